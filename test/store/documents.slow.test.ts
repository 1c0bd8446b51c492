import { expect, onTestFinished, test } from "vitest";
import type { Scenario } from "../../src/index.js";
import { noRedis, startRedis } from "../support/redis-server.js";
import { startReplica } from "../support/replicas.js";

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const group = {
  type: "object",
  required: ["all"],
  properties: { all: { type: "array", items: ref("Filter") } },
};
const leaf = { type: "object", required: ["field"], properties: { field: { type: "string" } } };
const requestBody = { required: true, content: { "application/json": { schema: ref("Filter") } } };
const responses = { 200: { description: "" } };
const document = {
  openapi: "3.1.0",
  info: { title: "", version: "" },
  paths: { "/find": { post: { operationId: "find", requestBody, responses } } },
  components: {
    schemas: { Filter: { oneOf: [ref("And"), ref("Or"), ref("Leaf")] }, And: group, Or: group, Leaf: leaf },
  },
};
const secret = "SVC_test_sbxStored0000000000000000000";
const scenario = {
  version: 1,
  openapi: { text: JSON.stringify(document) },
  organizations: { bank: { type: "bank", keys: { main: { environment: "test", secret } } } },
} as Scenario;

test.skipIf(noRedis !== undefined)(
  "a request is checked by the server that gets it, and the others have its outcome",
  async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.close());
    const [one, other] = [await startReplica(redis.url, scenario), await startReplica(redis.url, scenario)];
    const headers = { "x-api-key": secret, "Content-Type": "application/json" };
    const find = async (sent: unknown) =>
      (await fetch(`${one.url}/find`, { method: "POST", headers, body: JSON.stringify(sent) })).status;
    let wrong: unknown = { wrong: 1 };
    for (let level = 0; level < 7; level++) wrong = { all: [wrong] };
    expect([await find(wrong), await find({ field: "a" })]).toEqual([400, 200]);
    // A report has the requests of all servers: a server reads them before it responds.
    await fetch(`${other.url}/__sandbox/report`);
    const seen = (server: typeof one) =>
      server.copy.requests.list().map(({ status, pathId, path }) => [status, pathId, path]);
    expect(seen(other)).toEqual(seen(one));
    await Promise.all([one.close(0), other.close(0)]);
    const again = await startReplica(redis.url, scenario);
    onTestFinished(() => again.close(0));
    expect(seen(again).map(([status]) => status)).toEqual([400, 200]);
  },
);
