import { expect, test } from "vitest";
import type { StoryAnswer } from "../steps.js";
import { answerDifferences } from "./run-step.js";
import { actionIntent } from "./step-text.js";

const answer: StoryAnswer = {
  status: 200,
  headers: { "content-type": "application/json", "x-request-id": "req_1" },
  body: '{"data":{"scopes":["a","b"],"usage":{"today":1},"limits":{"per_minute":null}}}',
  pathId: "200.test",
  fault: null,
};
const at = (expected: Parameters<typeof answerDifferences>[0], found: StoryAnswer = answer) =>
  answerDifferences(expected, found).map(({ at, expected, found }) => `${at}: ${expected}, not ${found}`);

test("an expected response has no differences", () => {
  expect(
    at({
      status: 200,
      code: null,
      path: "200.test",
      headers: { "X-Request-Id": true, "retry-after": false, "Content-Type": "application/json" },
      body: { data: { usage: { today: 1 }, scopes: ["a", "b"] } },
    }),
  ).toEqual([]);
});

test("everything that differs is named, with what was expected and what was found", () => {
  expect(
    at({
      status: 401,
      code: "unauthorized",
      path: "401.revoked",
      headers: { "X-Request-Id": false, "retry-after": true, "content-type": "text/html" },
      body: { data: { usage: { today: 2, week: 3 } } },
    }),
  ).toEqual([
    ...["status: 401, not 200", 'code: "unauthorized", not null', 'path: "401.revoked", not "200.test"'],
    ...['headers.X-Request-Id: nothing, not "req_1"', "headers.retry-after: a value, not nothing"],
    ...['headers.content-type: "text/html", not "application/json"', "body.data.usage.today: 2, not 1"],
    "body.data.usage.week: 3, not nothing",
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

test("a response that a fault delayed is on its own path and on the fault's", () => {
  const late: StoryAnswer = { ...answer, fault: "fault.latency" };
  expect([at({ path: "200.test" }, late), at({ path: "fault.latency" }, late)]).toEqual([[], []]);
  expect(at({ path: "200.live" }, late)).toEqual(['path: "200.live", not "fault.latency"']);
});

test("an action is told in a line, its values other than a text as JSON", () => {
  expect(actionIntent({ rotate: { key: "active", overlap: "30m" } })).toBe("rotate active, overlap 30m");
  const made = { organization: "bank", environment: "test", name: "CI", scopes: ["a"] } as const;
  const told = 'create_key organization bank, environment test, name CI, scopes ["a"]';
  expect(actionIntent({ create_key: made } as never)).toBe(told);
});
