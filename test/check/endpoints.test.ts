import { expect, test } from "vitest";
import type { Endpoint } from "../../src/api/endpoint.js";
import { me } from "../../src/api/endpoints/me.js";
import { storySender } from "../../src/api/handle.js";
import { textBody } from "../../src/api/messages.js";
import { jsonOf, renderCheck } from "../../src/check/report.js";
import { runCheck } from "../../src/check/run.js";
import { nodePlatform } from "../../src/node/platform.js";
import { scenarioSecrets } from "../../src/sandbox/secrets.js";
import { startSandbox } from "../../src/sandbox/start.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { unknownSecret } from "../../src/scenario/population.js";
import { count, mapping } from "../../src/spec/schema/shape.js";

const usage: Endpoint = {
  method: "GET",
  path: "/v1/relying-party/keys/usage",
  operationId: "getKeyUsage",
  summary: "Usage",
  description: "Usage of the key.",
  responseName: "KeyUsage",
  responseShape: mapping({ data: mapping({ today: count(), this_minute: count() }) }),
  responseExample: { data: { today: 1, this_minute: 1 } },
  respond: () => textBody('{"data":{"today":3,"this_minute":"1"}}'),
};
const hidden = { ...usage, path: "/v1/relying-party/keys/{id}", operationId: "getKey" };
const endpoints = [me, usage, hidden];

/** Checks a sandbox with these endpoints, with the keys of these refs. */
async function check(refs: readonly string[], maxRequests = 44, scope?: string) {
  const served = scope === undefined ? endpoints : endpoints.map((one) => ({ ...one, scope }));
  const platform = { ...nodePlatform, endpoints: () => [me, ...served.slice(1)] };
  const world = startSandbox(bundledScenarios["key-states"], { platform });
  const secrets = scenarioSecrets(world);
  const names = refs.map((ref) => [`SVC_KEY_${ref.toUpperCase()}`, secrets[ref]]);
  const send = storySender(world);
  return runCheck(
    async (key, path = me.path) => {
      const headers = key === undefined ? {} : { "x-api-key": key };
      const { status, headers: found, body } = send({ method: "GET", path, headers, body: undefined });
      return { status, reason: "", headers: Object.entries(found), body: new TextEncoder().encode(body) };
    },
    {
      ...{ url: "http://sandbox.example", env: Object.fromEntries(names), maxRequests },
      ...{ probeLimits: false, unknownKey: unknownSecret, endpoints: served },
    },
  );
}

test("every other GET without parameters is compared with its shape", async () => {
  const report = await check(["active"]);
  const { paths, differences } = report;
  expect(paths.slice(-2)).toMatchObject([
    { pathId: "200.getKeyUsage", verdict: "differs", got: "200" },
    { pathId: "200.getKey", verdict: "not_tried" },
  ]);
  expect(differences).toEqual([
    expect.objectContaining({ rules: ["R48"], pathId: "200.getKeyUsage", at: "$.data.this_minute" }),
  ]);
  expect(jsonOf(report)).toMatchObject({ not_learned: { retry_after: expect.stringContaining("no 429") } });
  expect(renderCheck(report, "text")).toMatch(
    /\n1 difference from the contract: 4 of \d+ paths agree, \d+ were not tried\.\n$/,
  );
  const [, ...cases] = renderCheck(report, "junit").split("<testcase ");
  expect(cases.filter((one) => one.includes("$.data.this_minute: expected"))).toEqual([
    expect.stringMatching(/ name="200\.getKeyUsage".*<failure /s),
  ]);
});

test("it is not tried without a working key, without its scope, and beyond the limit of requests", async () => {
  const reasons = [await check([]), await check(["active"], 44, "usage:read"), await check(["active"], 5)];
  expect(reasons.map(({ paths }) => [paths.at(-2)?.verdict, paths.at(-2)?.reason])).toEqual([
    ["not_tried", "needs a key that works in SVC_KEY_ACTIVE or SVC_API_KEY"],
    ["not_tried", "the key lacks the scope usage:read"],
    ["not_tried", "the 5 requests of --max-requests are used up"],
  ]);
});
