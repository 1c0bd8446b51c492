import { expect, test } from "vitest";
import type { LiveState } from "../../src/check/live-changes.js";
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

/** The states of announced changes, as a check of an environment finds them where some changes are live. */
async function statesIn(live: Changes, refs = ["active", "wrong-scope", "rate-limited"], more: Changes = {}) {
  const scenario = { ...bundledScenarios["key-states"], changes: live };
  const world = openTestWorld(scenario, { now: Date.parse("2027-07-01T00:00:00Z") });
  const send = async (header: string | undefined) => {
    const { status, headers, body } = ask(world, header === undefined ? {} : { key: { header } });
    return { status, reason: "", headers, body: new TextEncoder().encode(body) };
  };
  const variable = (ref: string) => `SVC_KEY_${ref.toUpperCase().replace("-", "_")}`;
  const { changes } = await runCheck(send, {
    url: "https://api.example/v1/relying-party/me",
    env: Object.fromEntries(refs.map((ref) => [variable(ref), scenarioSecret(world, ref)])),
    maxRequests: 20,
    probeLimits: true,
    unknownKey: unknownSecret,
    changes: { ...announced, ...more },
  });
  return Object.fromEntries((changes ?? []).map(({ ref, state }) => [ref, state]));
}

const each = (state: LiveState) => Object.fromEntries(Object.keys(announced).map((ref) => [ref, state]));

test("where no change is live, a check shows each as not yet", async () => {
  expect(await statesIn({})).toEqual(each("not_yet"));
});

test("where all changes are live, a check shows each as live", async () => {
  expect(await statesIn(announced)).toEqual(each("live"));
});

test.each(Object.entries(announced))("where only %s is live, a check shows that one", async (ref, change) => {
  expect(await statesIn({ [ref]: change })).toEqual({ ...each("not_yet"), [ref]: "live" });
});

test("what no response shows is not seen", async () => {
  const states = await statesIn(announced, ["active"]);
  expect(states).toMatchObject({ details: "not_seen", code: "not_seen", status: "not_seen", region: "live" });
});

test("a change with some live parts is partly live", async () => {
  const both = { at, codes: { rate_limited: "quota_exceeded", unauthorized: "no_key" } };
  const states = await statesIn({ code: announced.code as Changes[string] }, undefined, { both });
  expect(states.both).toBe("partly");
});
