import { expect, test } from "vitest";
import type { PromisedOutcomeId } from "./findings.js";
import { judgeAttempt } from "./judge.js";
import { createRedactKeys, type RedactedResponse, readResponse } from "./response.js";

const responseOf = (status: number, json: unknown = {}, headers: Readonly<Record<string, string>> = {}) =>
  readResponse(
    {
      status,
      version: "1.1",
      reason: "",
      headers: Object.entries(headers),
      body: new TextEncoder().encode(JSON.stringify(json)),
    },
    createRedactKeys([]),
  );
const type = { "Content-Type": "application/json" };
const sent = { sentAt: 0, receivedAt: 1, standing: { kind: "judged" } } as const;
const rejected = (code: unknown) => ({ error: { code, message: "No." } });

test.each<[PromisedOutcomeId, RedactedResponse, string[]]>([
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
  ["401.revoked", { ...responseOf(401, rejected("unauthorized"), type), hasKeyAt: ["body"] }, ["R34 body"]],
])("%s is judged by status, form and code (%#)", (outcome, response, found) => {
  expect(judgeAttempt({ outcome, ...sent, response }).map(({ rules, at }) => `${rules} ${at}`)).toEqual(
    found,
  );
});

test.each<[number, Readonly<Record<string, string>>, string]>([
  [302, { location: "/login" }, "302, a redirect to the same host, which was not followed"],
  [302, {}, "302"],
  [
    302,
    { location: "https://login.example:8443/next?id=7" },
    "302, a redirect to https://login.example:8443, which was not followed",
  ],
  [302, { location: "//login.example/?id=7" }, "302, a redirect to //login.example, which was not followed"],
  [299, { location: "/login" }, "299"],
  [400, { location: "/login" }, "400"],
])("a wrong status %i with %j is found as %j", (status, headers, found) => {
  expect(
    judgeAttempt({ outcome: "401.revoked", ...sent, response: responseOf(status, {}, headers) }),
  ).toMatchObject([{ at: "status", found }]);
});

test.each([
  ["soon", 1],
  ["-7", 1],
  ["1.5", 1],
  ["7", 0],
  ["Mon, 02 Mar 2026 09:00:00 GMT", 0],
  ["Monday, 02-Mar-26 09:00:00 GMT", 0],
  ["Mon Mar  2 09:00:00 2026", 0],
  ["Mon, 02 Mar 2026 09:00:00 +0000", 1],
  ["Mon, 2 Mar 2026 09:00:00 GMT", 1],
  ["2026-03-02T09:00:00Z", 1],
])("the Retry-After %j of a 429 is a difference: %i", (value, count) => {
  const response = responseOf(429, rejected("slow_down"), { ...type, "Retry-After": value });
  expect(judgeAttempt({ outcome: "429.per_day", ...sent, response }).map(({ at }) => at)).toEqual(
    Array(count).fill("Retry-After"),
  );
});

test("a Retry-After counts for a rejection only: no client waits after a success", () => {
  const response = responseOf(200, {}, { ...type, "Retry-After": "soon" });
  const places = judgeAttempt({ outcome: "200.test", ...sent, response }).map(({ at }) => at);
  expect(places).not.toContain("Retry-After");
});

test.each([
  ["", "an empty body"],
  ["any text", "text"],
  [" <!DOCTYPE html><p>7", "an HTML page"],
])("the body %j is described as %s", (text, described) => {
  const response = { ...responseOf(401, {}, type), json: undefined, text };
  const differences = judgeAttempt({ outcome: "401.revoked", ...sent, response });
  expect(differences).toMatchObject([{ at: "body", found: described }]);
});
