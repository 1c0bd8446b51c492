import { expect, test } from "vitest";
import { handle } from "../api/handle.js";
import { readApiRequest } from "../api/read-request.js";
import { nodePlatform } from "../node/platform.js";
import { secretToSend } from "../sandbox/secrets.js";
import { prepareStart, startSandbox } from "../sandbox/start-sandbox.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { conditionedRun } from "./conditioned-run.js";
import type { RunConditions } from "./conditions.js";

const machineTime = Date.UTC(2026, 10, 30, 20, 51, 20, 300);
const clockTime = Date.UTC(2026, 2, 2, 9, 0, 10);

const scenario = {
  version: 1,
  clock: { now: new Date(clockTime).toISOString(), frozen: true },
  assumptions: { retry_after: "date" },
  organizations: {
    bank: {
      type: "bank",
      keys: { limited: { environment: "test", limits: { per_minute: 1, per_day: 1000 } } },
    },
  },
} satisfies Scenario;

/** Sends the key of a sandbox whose clock is months behind the machine's. Returns what a client reads of each response. */
function sent(times: number, conditions?: RunConditions) {
  const platform = { ...nodePlatform, time: () => machineTime };
  const clientRun = conditions && conditionedRun(conditions);
  const sandbox = startSandbox(prepareStart({ source: { name: "own", scenario }, platform, clientRun }));
  const request = readApiRequest({
    method: "GET",
    path: "/v1/relying-party/me",
    query: "",
    headers: ["x-api-key", secretToSend(sandbox, "limited")],
  });
  return Array.from({ length: times }, () => {
    const { at, date = at, response } = handle(sandbox, request);
    const retryAfter = response.headers[response.headers.indexOf("Retry-After") + 1] ?? "";
    return { status: response.status, date, retryAfter: Date.parse(retryAfter) };
  });
}

test("in a client's run, a date in Retry-After and the Date beside it are of the machine's clock", () => {
  const [accepted, limited] = sent(2, {});
  expect(accepted).toMatchObject({ status: 200, date: clockTime });
  // 50 s until the sandbox's minute ends, rounded up to a whole second.
  expect(limited).toEqual({ status: 429, date: machineTime, retryAfter: Date.UTC(2026, 10, 30, 20, 52, 11) });
});

test("outside of a run, both are of the sandbox's clock", () => {
  const [, limited] = sent(2);
  expect(limited).toEqual({ status: 429, date: clockTime, retryAfter: Date.UTC(2026, 2, 2, 9, 1, 1) });
});

test("a rejection of the run has a date by the machine's clock, too", () => {
  const gets = { kind: "rejection", as: "429.per_minute", seconds: 4, asDate: true } as const;
  const [rejected] = sent(1, { onRequest: { which: { kind: "nth", key: "limited", nth: 1 }, gets } });
  expect(rejected).toEqual({
    status: 429,
    date: machineTime,
    retryAfter: Date.UTC(2026, 10, 30, 20, 51, 25),
  });
});

test("a fault of the run passes over a response without a body", () => {
  const gets = { kind: "fault", effect: { hang: true } } as const;
  const onRequest = { which: { kind: "nth", key: "limited", nth: 1 }, gets } as const;
  const endpoints = { ping: { path: "/v1/ping", status: 204 } } satisfies Scenario["endpoints"];
  const clientRun = conditionedRun({ onRequest });
  const source = { name: "own", scenario: { ...scenario, endpoints } };
  const sandbox = startSandbox(prepareStart({ source, platform: nodePlatform, clientRun }));
  const headers = ["x-api-key", secretToSend(sandbox, "limited")];
  const outcomes = ["/v1/ping", "/v1/relying-party/me"].map((path) => {
    return handle(sandbox, readApiRequest({ method: "GET", path, query: "", headers })).outcome;
  });
  expect(outcomes).toEqual(["204.ping", "fault.hang"]);
});
