import { expect, test } from "vitest";
import { presentNextStep, responseDifferences, runNextStep } from "../../src/api/story/run-story.js";
import { storyRequest } from "../../src/api/story/send.js";
import { stepText, summarizeAction, summarizeStep } from "../../src/api/story/summarize.js";
import { operations } from "../../src/sandbox/operations/operations.js";
import {
  type ActionResult,
  allDifferences,
  type StepAction,
  type StoryResponse,
  viewDifference,
} from "../../src/sandbox/steps.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import { startFrozen } from "../support/doors.js";

const response: StoryResponse = {
  status: 200,
  headers: { "content-type": "application/json", "x-request-id": "req_1" },
  body: '{"data":{"scopes":["a","b"],"usage":{"today":1},"limits":{"per_minute":null}}}',
  outcome: "200.test",
  fault: null,
};
const at = (expected: Parameters<typeof responseDifferences>[1], found: StoryResponse = response) =>
  responseDifferences(["story", 0], expected, found).map((difference) => {
    const { at, expected, found } = viewDifference(difference);
    return `${at}: ${expected}, not ${found}`;
  });

test("everything that differs is named, with what was expected and what was found", () => {
  expect(
    at({
      status: 401,
      code: "unauthorized",
      outcome: "401.revoked",
      headers: { "X-Request-Id": false, "retry-after": true, "content-type": "text/html" },
      body: { data: { usage: { today: 2, week: 3 } } },
    }),
  ).toEqual([
    "status: 401, not 200",
    'code: "unauthorized", not null',
    'outcome: "401.revoked", not "200.test"',
    'headers.X-Request-Id: nothing, not "req_1"',
    "headers.retry-after: a value, not nothing",
    'headers.content-type: "text/html", not "application/json"',
    "body.data.usage.today: 2, not 1",
    "body.data.usage.week: 3, not nothing",
  ]);
});

test("a header is absent also if its name is that of a member of every object", () => {
  const names = JSON.parse('{"constructor":false,"__proto__":false}');
  expect(at({ headers: names })).toEqual([]);
  expect(at({ headers: { constructor: true } } as never)).toEqual([
    "headers.constructor: a value, not nothing",
  ]);
});

test("a request has each header of its step, no matter the name", () => {
  const headers = JSON.parse('{"__proto__":"1","Constructor":"2"}');
  const { received, shown } = storyRequest(startFrozen("key-states"), { key: "none", headers });
  expect(received.headers).toEqual(["__proto__", "1", "constructor", "2"]);
  expect(Object.entries(shown.headers)).toEqual([
    ["__proto__", "1"],
    ["constructor", "2"],
  ]);
});

test("lists are compared whole, and null is not a missing member", () => {
  expect(at({ body: { data: { scopes: ["a"] } } })).toEqual(['body.data.scopes: ["a"], not ["a","b"]']);
  expect(at({ body: { data: { scopes: ["b", "a"] } } })).toHaveLength(2);
  expect(at({ body: { data: { limits: { per_minute: null } } } })).toEqual([]);
  expect(at({ body: { data: { limits: { per_day: null } } } })).toEqual([
    "body.data.limits.per_day: null, not nothing",
  ]);
});

test("a body that is no JSON is a text, also an empty one", () => {
  expect(at({ body: "" }, { ...response, body: "" })).toEqual([]);
  expect(at({ body: "" })).toHaveLength(1);
  expect(at({ body: { data: {} } }, { ...response, body: "" })).toEqual(['body: {"data":{}}, not ""']);
});

test("the field of a difference is a member also if its name is a number or has a dot", () => {
  const sandbox = startFrozen({
    version: 1,
    organizations: { bank: { type: "bank", keys: { main: { environment: "test" } } } },
    story: [{ request: { key: "main" }, expect: { body: { data: { "2024": 1, "a.b": 2, scopes: ["a"] } } } }],
  });
  const played = runNextStep(sandbox);
  if (played === undefined) throw new Error("the story has no step");
  const fields = allDifferences(played).map(({ field }) => field);
  expect(fields).toEqual([
    ["story", 0, "expect", "body", "data", "2024"],
    ["story", 0, "expect", "body", "data", "a.b"],
    ["story", 0, "expect", "body", "data", "scopes", 0],
  ]);
});

test("a response that a fault delayed has its own outcome and the fault's", () => {
  const late: StoryResponse = { ...response, fault: "fault.latency" };
  for (const outcome of ["200.test", "fault.latency"] as const) {
    expect(at({ outcome }, late), outcome).toEqual([]);
  }
  expect(at({ outcome: "200.live" }, late)).toEqual([
    'outcome: "200.live", not "200.test", with fault.latency',
  ]);
});

test("R46 the request of a step shows no key, wherever the step has it: also as the name of a header", () => {
  const pinned = "SVC_test_9f8e7d6c5b4a";
  const { shown } = storyRequest(startFrozen("key-states"), {
    path: `/v1/${pinned}?key=${pinned}`,
    headers: { [pinned]: pinned },
    body: { [pinned]: pinned },
  });
  expect(JSON.stringify(shown).toLowerCase()).not.toContain(pinned.toLowerCase());
  expect(shown.headers).toHaveProperty("svc_test_…", "SVC_test_…");
});

const performed = { key: null, replacement: null, error: null, secret: null } as unknown as ActionResult;
const key = { organization: "bank", environment: "test", name: "CI", scopes: ["a"] } as const;

test.each<[StepAction, string, ActionResult?]>([
  [
    {
      faults: [{ latency: "1s", status: 503, body: "x", hang: false }, { reset: true }].map((then) => ({
        then,
      })),
    } as never,
    "faults: latency and status 503, reset",
  ],
  [
    { rotate: { key: "a", overlap: "0s" } },
    "rotate a, overlap 0s → a-2",
    { ...performed, replacement: { ref: "a-2" } } as ActionResult,
  ],
  [
    { rotate: { key: "a", as: "next" } },
    "rotate a → rejected: key_not_active",
    { ...performed, error: { code: "key_not_active" } } as ActionResult,
  ],
  [
    { faults: [{ then: { hang: true } }] },
    "faults: hang → rejected: validation_failed",
    { ...performed, error: { code: "validation_failed" } } as ActionResult,
  ],
  [
    { create_key: { ...key, ref: "bank" } } as never,
    'create_key organization bank, environment test, name CI, scopes ["a"] → bank',
  ],
  [{ create_key: key } as never, 'create_key organization bank, environment test, name CI, scopes ["a"]'],
  [
    { organization: { ref: "bank", live_access: "not_approved", status: "inactive" } } as never,
    "organization bank, live_access not_approved, status inactive",
  ],
])("%j is summarized on a line", (action, line, how = performed) => {
  expect(summarizeAction(action, how)).toBe(line);
});

test.each<[what: string, step: NonNullable<Scenario["story"]>[number], text: string, summary: string]>([
  [
    "a request",
    { request: { key: "main" } },
    "2h later: 11:00 on 2 March 2026",
    "after 2h: request with main",
  ],
  ["narration", { say: "Later." }, "2h later: 11:00 on 2 March 2026", "after 2h: say"],
  ["an action", { revoke: { key: "main" } }, "after 2h: revoke main", "after 2h: revoke main"],
])("the time that passes before %s is told", (_what, act, text, summary) => {
  const organizations = { bank: { type: "bank", keys: { main: { environment: "test" } } } } as const;
  const clock = { now: "2026-03-02T09:00:00Z", frozen: true };
  const step = { after: "2h", ...act } as const;
  const sandbox = startFrozen({ version: 1, clock, organizations, story: [step] });
  if (act.say === undefined) expect(summarizeStep(step)).toBe(summary);
  const played = runNextStep(sandbox);
  if (played === undefined) throw new Error("the story has no step");
  expect(stepText(played)).toBe(text);
});

test("a request is summarized with its key, also with a key whose ref is a word of JavaScript", () => {
  expect(summarizeStep({ request: { key: "constructor" } })).toBe("request with constructor");
  expect(summarizeStep({ request: { key: "none" } })).toBe("request without a key");
});

test("R46 the request of a step shows no key of Basic credentials", () => {
  const credentials = btoa("user:SVC_test_9f8e7d6c5b4a");
  const { shown } = storyRequest(startFrozen("key-states"), {
    path: `/v1/things?as=${credentials}`,
    headers: { authorization: `Basic ${credentials}` },
    body: `as=${credentials}`,
  });
  const end = credentials.slice(-12);
  expect(shown.headers.authorization).toMatch(/^Basic .*…$/);
  expect(JSON.stringify(shown)).not.toContain(end);
});

const twoSteps: Scenario = {
  version: 1,
  organizations: { bank: { type: "bank", keys: { main: { environment: "test" } } } },
  story: [{ say: "First" }, { revoke: { key: "main" } }],
};

/** A sandbox whose clock runs, and a presenter's steps to the end of its story. */
function presented(beforeLast: (sandbox: ReturnType<typeof startFrozen>) => void) {
  const sandbox = startFrozen(twoSteps);
  sandbox.clock.resume();
  presentNextStep(sandbox);
  expect(sandbox.clock.isFrozen()).toBe(true);
  beforeLast(sandbox);
  presentNextStep(sandbox);
  return sandbox;
}

test("after a presenter's last step the clock goes on, unless somebody has frozen it meanwhile", () => {
  expect(presented(() => undefined).clock.isFrozen()).toBe(false);
  const frozen = presented((sandbox) => operations.clock(sandbox, { frozen: true }));
  expect(frozen.clock.isFrozen()).toBe(true);
  const resumed = presented((sandbox) => operations.clock(sandbox, { frozen: false }));
  expect(resumed.clock.isFrozen()).toBe(false);
});
