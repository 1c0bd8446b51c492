import { expect, test } from "vitest";
import type { LiveState } from "../../src/check/live-changes.js";
import { renderCheck } from "../../src/check/report.js";
import { runCheck } from "../../src/check/run.js";
import { scenarioSecret } from "../../src/sandbox/secrets.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { unknownSecret } from "../../src/scenario/population.js";
import { openTestWorld } from "../support/doors.js";
import { ask } from "../support/varied.js";

type Changes = NonNullable<(typeof bundledScenarios)["key-states"]["changes"]>;

const at = "2027-06-01";
const announced: Changes = {
  details: { at, assumptions: { error_details: true } },
  code: { at, codes: { rate_limited: "quota_exceeded" } },
  status: { at, statuses: { insufficient_scope: 404 } },
  usage: { at, members: { in: "data.usage", rename: { today: "day" } } },
  region: { at, members: { in: "data", add: { region: "north" } } },
  ids: { at, headers: { rename: { "X-Request-Id": "Request-Id" } } },
  version: { at, headers: { on: 200, add: { "X-Api-Version": "2" } } },
  scopes: { at, scopes: { rename: { "attestations:read": "attestations.read" } } },
  path: { at, move: { to: "/v2/relying-party/me", sunset: "2027-12-01" } },
};

/** A check, and the states of announced changes, as a check of an environment finds them where some changes are live. */
async function statesIn(live: Changes, refs = ["active", "wrong-scope", "rate-limited"], more: Changes = {}) {
  const scenario = { ...bundledScenarios["key-states"], changes: live };
  const world = openTestWorld(scenario, { now: Date.parse("2027-07-01T00:00:00Z") });
  const send = async (header: string | undefined) => {
    const { status, headers, body } = ask(world, header === undefined ? {} : { key: { header } });
    return { status, reason: "", headers, body: new TextEncoder().encode(body) };
  };
  const variable = (ref: string) => `SVC_KEY_${ref.toUpperCase().replace("-", "_")}`;
  const report = await runCheck(send, {
    url: "https://api.example/v1/relying-party/me",
    env: Object.fromEntries(refs.map((ref) => [variable(ref), scenarioSecret(world, ref)])),
    maxRequests: 20,
    probeLimits: true,
    unknownKey: unknownSecret,
    changes: { ...announced, ...more },
  });
  return { report, states: Object.fromEntries((report.changes ?? []).map(({ ref, state }) => [ref, state])) };
}

const each = (state: LiveState) => Object.fromEntries(Object.keys(announced).map((ref) => [ref, state]));

test("where no change is live, a check shows each as not yet", async () => {
  expect((await statesIn({})).states).toEqual(each("not_yet"));
});

test("where all changes are live, a check shows each as live", async () => {
  expect((await statesIn(announced)).states).toEqual(each("live"));
});

test.each(Object.entries(announced))("where only %s is live, a check shows that one", async (ref, change) => {
  expect((await statesIn({ [ref]: change })).states).toEqual({ ...each("not_yet"), [ref]: "live" });
});

type Change = Omit<Changes[string], "at">;
const both = { rate_limited: "quota_exceeded", unauthorized: "no_key" };
const noId: Change = { headers: { on: 200, remove: ["X-Request-Id"] } };
test.each<[LiveState, Change, refs?: string[] | undefined, live?: Change]>([
  ["partly", { codes: both }, undefined, { codes: { rate_limited: "quota_exceeded" } }],
  ["not_seen", { assumptions: { error_details: true } }, []],
  ["not_seen", { codes: { rate_limited: "quota_exceeded" } }, []],
  ["not_seen", { statuses: { insufficient_scope: 404 } }, []],
  ["not_seen", { members: { in: "data", add: { region: "north" } } }, []],
  ["not_seen", { headers: { rename: { "X-Request-Id": "Request-Id" } } }, []],
  ["not_seen", { headers: { on: 200, add: { "X-Api-Version": "2" } } }, []],
  ["not_yet", { headers: { on: 401, add: { "X-Api-Version": "2" } } }, []],
  ["not_seen", { scopes: { rename: { "farms:read": "farms.read" } } }],
  ["not_seen", { scopes: { add: ["farms:read"] } }, []],
  ["not_seen", { scopes: { remove: ["farms:read"] } }],
  ["not_yet", { scopes: { remove: ["attestations:read"] } }],
  ["not_yet", { scopes: { add: ["farms:read"] } }],
  ["live", { scopes: { add: ["farms:read"] } }, undefined, { scopes: { add: ["farms:read"] } }],
  ["not_yet", noId],
  ["live", noId, undefined, noId],
  ["not_seen", { ...noId, operation: "getOther" }, undefined, noId],
  ["not_yet", { members: { in: "data.usage", remove: ["today"] } }],
  ["live", { members: { in: "data.usage", remove: ["day"] } }],
])("of another change a check shows %s: %j", async (state, change, refs, live) => {
  const more = { other: { at, ...change } };
  const { states, report } = await statesIn(live ? { other: { at, ...live } } : {}, refs, more);
  expect(states.other).toBe(state);
  expect(renderCheck(report, "text")).toMatch(
    new RegExp(`^ +2027-06-01 +other +${state.replace("_", " ").replace("partly", "partly live")}$`, "m"),
  );
  expect(renderCheck(report, "junit")).toContain(' name="2027-06-01 other"');
});
