import { expect, test } from "vitest";
import { me } from "../api/endpoints/me.js";
import { assumptionTable } from "../rules/assumptions.js";
import type { PromisedPathId } from "../rules/outcomes.js";
import { count, mapping } from "../rules/schema/shape.js";
import { findKey, type KeyedPath, keysInVariables, unusedVariables } from "./contract.js";
import { type Attempt, judgeAttempt, judgeNoLimit, whyUntried } from "./judge.js";
import { assumptionsYaml, inferAssumptions } from "./learn.js";
import {
  type CheckedResponse,
  createRedact,
  describeBody,
  describeValue,
  readResponse,
  shownText,
} from "./response.js";

const responseOf = (status: number, json: unknown = {}, headers: Readonly<Record<string, string>> = {}) =>
  readResponse(
    {
      status,
      reason: "",
      headers: Object.entries(headers),
      body: new TextEncoder().encode(JSON.stringify(json)),
    },
    createRedact([]),
  );
const usage = (today: unknown, perDay: unknown) => ({
  data: { usage: { today }, limits: { per_day: perDay } },
});

test.each<[PromisedPathId, number, unknown, boolean]>([
  ["429.per_day", 200, usage(1000, 1000), true],
  ["429.per_day", 200, usage(1001, 1000), false],
  ["429.per_day", 200, {}, false],
  ["200.test", 429, {}, true],
  ["403.access_denied", 429, {}, true],
  ["401.unknown", 429, {}, false],
  ["403.insufficient_scope", 200, {}, true],
  ["403.access_denied", 200, {}, false],
  ["200.test", 200, {}, false],
])("%s with %i and %j shows nothing about its path: %j", (pathId, status, json, isUntried) => {
  expect(whyUntried({ pathId }, responseOf(status, json)) !== undefined).toBe(isUntried);
});

test.each([
  [["09:00:00", "09:00:59"], "difference"],
  [["09:00:59", "09:01:00"], "reason"],
  [["09:00:00", undefined], "reason"],
  [[undefined], "reason"],
])("responses of one minute at %j show a missing limit, others only a reason: %s", (times, member) => {
  const responses = times.map((time) =>
    responseOf(200, {}, time ? { Date: `Mon, 02 Mar 2026 ${time} GMT` } : {}),
  );
  expect(Object.keys(judgeNoLimit(responses, 1))).toEqual([member]);
});

const type = { "Content-Type": "application/json" };
const rejected = (code: unknown) => ({ error: { code, message: "No." } });

test.each<[PromisedPathId, CheckedResponse, string[]]>([
  ["401.revoked", responseOf(401, rejected("unauthorized"), type), []],
  ["401.revoked", responseOf(403, rejected("access_denied"), type), ["R12 status"]],
  ["401.revoked", responseOf(401, rejected("access_denied"), type), ["R12,R28 $.error.code"]],
  ["403.access_denied", responseOf(403, rejected("insufficient_scope"), type), ["R18 $.error.code"]],
  ["429.per_day", responseOf(429, rejected("any"), type), []],
  ["429.per_day", responseOf(429, rejected(""), type), ["R28 $.error.code"]],
  ["401.revoked", responseOf(401, rejected("unauthorized")), ["R27 Content-Type"]],
  [
    "401.revoked",
    responseOf(401, rejected("unauthorized"), {
      "content-type": "Application/JSON; charset=utf-8",
      "content-encoding": "gzip",
    }),
    ["R27 Content-Encoding"],
  ],
  ["401.revoked", responseOf(401, rejected("unauthorized"), { ...type, "content-encoding": "identity" }), []],
  ["401.revoked", { ...responseOf(401, {}, type), json: undefined }, ["R27 body"]],
  ["200.test", { ...responseOf(200, {}, { ...type, "X-Request-Id": "a" }), json: undefined }, ["R1 body"]],
  [
    "401.revoked",
    { ...responseOf(401, rejected("unauthorized"), type), repeatsKeyAt: ["body"] },
    ["R34 body"],
  ],
])("%s is judged by status, form and code (%#)", (pathId, response, found) => {
  expect(judgeAttempt({ pathId, response }).map(({ rules, at }) => `${rules} ${at}`)).toEqual(found);
});

test.each<[number, Readonly<Record<string, string>>, string]>([
  [302, { location: "/login" }, "302, a redirect to /login, which was not followed"],
  [302, {}, "302"],
  [299, { location: "/login" }, "299"],
  [400, { location: "/login" }, "400"],
])("a wrong status %i with %j is found as %j", (status, headers, found) => {
  expect(judgeAttempt({ pathId: "401.revoked", response: responseOf(status, {}, headers) })).toMatchObject([
    { at: "status", found },
  ]);
});

test("the response of another endpoint is judged by its rule and its own shape, and not by the key", () => {
  const endpoint = { ...me, responseShape: mapping({ day: count() }) };
  const json = { day: "1", data: { environment: "live" } };
  const found = judgeAttempt({
    pathId: "200.getKeyUsage",
    endpoint,
    apiKey: "SVC_test_a",
    response: responseOf(200, json, { "X-Request-Id": "a" }),
  });
  expect(found.map(({ rules, at }) => `${rules} ${at}`)).toEqual([
    "R48 Content-Type",
    "R48 $.day",
    "R48 $.data",
  ]);
});

test.each([
  [{ SVC_KEY_LIVE: " SVC_live_a " }, "SVC_live_a"],
  [{ SVC_KEY_LIVE: "", SVC_API_KEY: "legacysvc_live_b" }, "legacysvc_live_b"],
  [{ SVC_KEY_LIVE: "SVC_test_a" }, "SVC_KEY_LIVE is not a live key"],
  [{ SVC_API_KEY: "SVC_test_a" }, "needs a live key in SVC_KEY_LIVE or SVC_API_KEY"],
  [{ SVC_KEY_LIVE: "SVC_live_\u007f" }, expect.stringContaining("is not a key")],
  [{ SVC_KEY_LIVE: "SVC_live_~!" }, "SVC_live_~!"],
])("of %j a path takes the key, or names the reason", (env, expected) => {
  const path: KeyedPath = {
    pathId: "200.live",
    rule: "R1",
    kind: "live",
    variables: ["SVC_KEY_LIVE", "SVC_API_KEY"],
  };
  const found = findKey(path, env as Record<string, string>);
  expect("apiKey" in found ? found.apiKey : found.reason).toEqual(expected);
});

test("a check redacts the key of each variable, and lists the variables that no path uses", () => {
  const env = {
    SVC_API_KEY: " a ",
    SVC_KEY_MAIN: "b",
    SVC_KEY_UNKNOWN: "c",
    SVC_KEY_EMPTY: "",
    SVC_URL: "d",
    SVC_KEY_ANY: "e",
  };
  expect([keysInVariables(env), unusedVariables(env)]).toEqual([
    ["a", "b", "e"],
    ["SVC_KEY_ANY", "SVC_KEY_MAIN"],
  ]);
});

test.each([
  [{}, "none"],
  [{ "Retry-After": "7" }, "seconds"],
  [{ "Retry-After": "Mon, 02 Mar 2026 09:00:00 GMT" }, "date"],
  [{ "Retry-After": "soon" }, undefined],
  [{ "Retry-After": "-7" }, undefined],
])("a 429 with %j shows the assumption retry_after: %s", (headers, value) => {
  const inferred = inferAssumptions([
    { pathId: "429.per_day", response: responseOf(429, rejected("slow_down"), headers) },
  ]);
  const byName = Object.fromEntries(inferred.map((one) => [one.name, one.value]));
  expect(byName).toMatchObject({
    rate_limit_code: "slow_down",
    request_id_on_errors: false,
    error_details: false,
  });
  expect(byName.retry_after).toBe(value);
});

const [limit, remaining] = ["X-RateLimit-Limit", "x-ratelimit-remaining"];
test.each<[string[], string | undefined, because: string]>([
  [[], "none", "no such header on 200 and 429"],
  [["RateLimit", "RateLimit-Policy"], "draft", "RateLimit, RateLimit-Policy"],
  [["RateLimit"], undefined, "no single form that the sandbox has: RateLimit"],
  [["RateLimit-Policy"], undefined, "no single form that the sandbox has: RateLimit-Policy"],
  [[limit, remaining], "legacy", "X-RateLimit-Limit, x-ratelimit-remaining"],
  [[limit, "Rate-Limit"], undefined, "no single form that the sandbox has: X-RateLimit-Limit, Rate-Limit"],
  [[remaining], undefined, "no single form that the sandbox has: x-ratelimit-remaining"],
])("a 200 with the headers %j shows the assumption rate_limit_headers: %s", (names, value, because) => {
  const response = responseOf(200, {}, Object.fromEntries(names.map((name) => [name, "1"])));
  const inferred = inferAssumptions([{ pathId: "200.test", response }]);
  expect(inferred.find(({ name }) => name === "rate_limit_headers")).toEqual({
    name: "rate_limit_headers",
    because,
    ...(value && { value }),
  });
});

test("errors of which only some have a header show no assumption, and YAML names why", () => {
  const withId = { pathId: "401.missing", response: responseOf(401, {}, { "x-request-id": "a" }) } as const;
  const inferred = inferAssumptions([withId, { pathId: "401.unknown", response: responseOf(401) }]);
  const ids = inferred.find(({ name }) => name === "request_id_on_errors");
  expect(ids).toEqual({ name: "request_id_on_errors", because: "X-Request-Id on 1 of 2 errors" });
  expect(assumptionsYaml(inferred)).toContain(
    "  # not learned: request_id_on_errors (X-Request-Id on 1 of 2 errors)",
  );
  expect(inferAssumptions([withId]).find(({ name }) => name === "request_id_on_errors")?.value).toBe(true);
});

test.each([
  ["soon", 1],
  ["-7", 1],
  ["1.5", 1],
  ["7", 0],
  ["Mon, 02 Mar 2026 09:00:00 GMT", 0],
  ["Monday, 02-Mar-26 09:00:00 GMT", 0],
])("the Retry-After %j of a 429 is a difference: %i", (value, count) => {
  const response = responseOf(429, rejected("slow_down"), { ...type, "Retry-After": value });
  expect(judgeAttempt({ pathId: "429.per_day", response }).map(({ at }) => at)).toEqual(
    Array(count).fill("Retry-After"),
  );
});

const lacking = (status: number, details?: object) =>
  ({
    pathId: "403.insufficient_scope",
    response: responseOf(status, { error: { details } }),
  }) as const;
const granting = (...scopes: unknown[]) =>
  ({ pathId: "200.test", response: responseOf(200, { data: { scopes } }) }) as const;
test.each<[Attempt[], me: unknown, scopes: unknown]>([
  [[granting("a:b"), lacking(403, { required_scope: "c:d" })], "c:d", ["a:b", "c:d"]],
  [[granting("a:b", "c:d"), granting("a:b", null), lacking(403)], "a:b", ["a:b", "c:d"]],
  [[granting("a:b", "c:d"), granting("a:b", "c:d"), lacking(403)], undefined, ["a:b", "c:d"]],
  [[granting("a:b"), lacking(429, { required_scope: "c:d" })], undefined, ["a:b"]],
  [[granting("a:b"), lacking(200)], undefined, ["a:b"]],
  [[{ ...lacking(403, { required_scope: "c:d" }), pathId: "403.access_denied" }], undefined, undefined],
  [[granting("attestations:read", "No Scope")], undefined, undefined],
])("responses show the scope of the endpoint and the known ones (%#)", (attempts, me_scope, scopes) => {
  const byName = Object.fromEntries(inferAssumptions(attempts).map(({ name, value }) => [name, value]));
  const assumed = assumptionTable.scopes.minimal;
  expect([byName.me_scope, byName.scopes]).toEqual([
    me_scope,
    Array.isArray(scopes) ? [...assumed, ...scopes] : undefined,
  ]);
});

test("a server's texts are cut after 80 characters, and the start of a body after 40", () => {
  const [max, more] = ["x".repeat(80), "x".repeat(81)];
  expect([shownText(max), shownText(more)]).toEqual([max, `${max}…`]);
  const body = (length: number) => describeBody({ ...responseOf(200), text: "y".repeat(length) });
  expect([body(0), body(40), body(41)]).toEqual([
    "an empty body",
    `text that starts with "${"y".repeat(40)}"`,
    `text that starts with "${"y".repeat(40)}…"`,
  ]);
  expect([undefined, null, "60", [], [1], {}, 60].map(describeValue)).toEqual([
    "nothing",
    "null",
    'the string "60"',
    "an empty array",
    "a list",
    "a mapping",
    "the number 60",
  ]);
});
