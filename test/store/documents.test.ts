import { describe, expect, onTestFinished, test } from "vitest";
import type { Scenario } from "../../src/index.js";
import { noRedis, startRedis } from "../support/redis-server.js";
import { startReplica } from "../support/replicas.js";

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const group = {
  type: "object",
  required: ["all"],
  properties: { all: { type: "array", items: ref("Filter") } },
};
const body = { required: true, content: { "application/json": { schema: ref("Filter") } } };
const id = { name: "id", in: "path", required: true, schema: { type: "string" } };
const responses = {
  200: { description: "", content: { "application/json": { example: { done: true } } } },
  404: { description: "" },
};
const document = {
  ...{ openapi: "3.1.0", info: { title: "", version: "" } },
  paths: {
    "/a b/search:many": { get: { responses } },
    "/verifications-of-identity-documents/{id}": { get: { parameters: [id], responses } },
    "/find": { post: { operationId: "find", requestBody: body, responses } },
  },
  components: {
    schemas: {
      Filter: { oneOf: [ref("And"), ref("Or"), ref("Leaf")] },
      ...{ And: group, Or: group },
      Leaf: { type: "object", required: ["field"], properties: { field: { type: "string" } } },
    },
  },
};
const secret = "SVC_test_sbxStored0000000000000000000";
const scenario = {
  version: 1,
  openapi: { text: JSON.stringify(document) },
  organizations: { bank: { type: "bank", keys: { main: { environment: "test", secret } } } },
} as Scenario;

describe.skipIf(noRedis !== undefined)("a document behind several servers", () => {
  test("a request is checked by the server that gets it, and the others have its outcome", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.close());
    const [one, other] = [await startReplica(redis.url, scenario), await startReplica(redis.url, scenario)];
    const headers = { "x-api-key": secret, "Content-Type": "application/json" };
    const statusOf = async (url: string, path: string, sent?: unknown) => {
      const request = sent === undefined ? {} : { method: "POST", body: JSON.stringify(sent) };
      return (await fetch(url + path, { headers, ...request })).status;
    };
    let wrong: unknown = { wrong: 1 };
    for (let level = 0; level < 7; level++) wrong = { all: [wrong] };
    expect(await statusOf(one.url, "/find", wrong)).toBe(400);
    expect(await statusOf(one.url, "/find", { field: "a" })).toBe(200);
    // What the specification allows in a path is found as without a store.
    for (const path of ["/a%20b/search:many", "/verifications-of-identity-documents/01HZX5B2-loan%3A7"])
      expect(await statusOf(other.url, path)).toBe(200);
    const prefer = { ...headers, prefer: "code=404" };
    expect((await fetch(`${other.url}/a%20b/search:many`, { headers: prefer })).status).toBe(404);
    const stranger = { ...headers, "x-api-key": "SVC_test_sbxStranger00000000000000000" };
    const unknown = { method: "POST", headers: stranger, body: JSON.stringify(wrong) };
    expect((await fetch(`${one.url}/find`, unknown)).status).toBe(401);
    const seen = (server: typeof one) =>
      server.copy.requests.list().map(({ status, pathId, path }) => [status, pathId, path]);
    // A report has the requests of all servers: a server reads them before it responds.
    for (const { url } of [one, other]) await fetch(`${url}/__sandbox/report`);
    expect(seen(one)).toEqual(seen(other));
    await Promise.all([one.close(0), other.close(0)]);
    const again = await startReplica(redis.url, scenario);
    onTestFinished(() => again.close(0));
    expect(seen(again).map(([status]) => status)).toEqual([400, 200, 200, 200, 404, 401]);
  });
});
