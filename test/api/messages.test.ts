import { expect, test } from "vitest";
import { nextRequest } from "../../src/api/evaluate.js";
import { bodyParts, onlyWaits } from "../../src/api/faults.js";
import { utf8Length, withBody } from "../../src/api/messages.js";
import { bodyOf, longestBody, tooLongBody } from "../../src/api/request-input.js";
import { openWorld } from "../../src/node/platform.js";
import { advanceClock } from "../../src/sandbox/operations/operations.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";

test.each([
  "",
  "a",
  "\u007f",
  "\u0080",
  "é\u07ff",
  "\u0800☂\uffff",
  "😀x",
  "\ud800",
  "\udc00\ud800",
  "\ud83d😀",
  "\ud800\ue000",
])("the length of %j in bytes is the encoder's", (text) => {
  expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
});

test("another body has its own length, under any spelling of the header", () => {
  const response = {
    status: 200,
    headers: ["X", "content-length", "Content-Length", "1", "content-length", "1"],
    body: "a",
  };
  expect(withBody(response, "é☂")).toEqual({
    ...{
      status: 200,
      headers: ["X", "content-length", "Content-Length", "5", "content-length", "5"],
      body: "é☂",
    },
  });
});

test.each<[string, { readonly cutAfter?: number; readonly bytesPerSecond?: number }, number[], number]>([
  ["", {}, [], 0],
  ["abcdef", {}, [6], 0],
  ["abcdef", { cutAfter: 4 }, [4], 0],
  ["abcdef", { cutAfter: 0 }, [], 0],
  ["abcdef", { bytesPerSecond: 1 }, [1, 1, 1, 1, 1, 1], 1000],
  ["abcdef", { bytesPerSecond: 20, cutAfter: 3 }, [1, 1, 1], 50],
  ["abcdef", { bytesPerSecond: 80 }, [4, 2], 50],
  ["", { bytesPerSecond: 80 }, [], 50],
])("the body %j with %j is sent in parts of %j bytes, %i ms apart", (body, delivery, sizes, pauseMs) => {
  const { parts, pauseMs: pause } = bodyParts(body, delivery);
  expect([parts.map(({ length }) => length), pause]).toEqual([sizes, pauseMs]);
  expect(parts.map((part) => new TextDecoder().decode(part)).join("")).toBe(body.slice(0, delivery.cutAfter));
});

test("only a whole response that comes late is waited for", () => {
  const late = { delayMs: 1, kind: "send", cutAfter: undefined, bytesPerSecond: undefined } as const;
  expect([late, { ...late, cutAfter: 0 }, { ...late, kind: "hang" as const }].map(onlyWaits)).toEqual([
    true,
    false,
    false,
  ]);
});

test("a body of 64 KB is read, and a byte more is too long", () => {
  expect(bodyOf(new Uint8Array(longestBody).fill(65)).text).toHaveLength(65_536);
  expect(bodyOf(new Uint8Array(longestBody + 1))).toBe(tooLongBody);
  expect(bodyOf(new Uint8Array([255]))).toEqual({ text: "", problem: "it is not UTF-8" });
});

test.each([
  ["active", "200", null],
  ["revoked", /^401 revoked since 20\S+Z$/, null],
  ["expired", /^401 expired since 20\S+Z$/, null],
  ["rotated", /^401 rotated since 20\S+Z$/, null],
  ["organization-inactive", "403 access_denied: organization is inactive", null],
  ["live-not-approved", "403 live_access_not_approved: live access is not approved", null],
  ["wrong-scope", /^403 insufficient_scope: needs attestations:read, has consents:read/, null],
  ["rate-limited-minute", "429 until 09:01:00", "2026-03-02T09:01:00.000Z"],
  ["rate-limited", "429 always: allows 0 requests a day", null],
])("the next request with the key %s of key-states is shown with its cause: %s", (ref, verdict, until) => {
  const now = Date.UTC(2026, 2, 2, 9);
  const world = openWorld(bundledScenarios["key-states"], { frozen: true, now });
  const next = nextRequest(world, ref);
  expect([next.verdict, next.until]).toEqual([
    typeof verdict === "string" ? verdict : expect.stringMatching(verdict),
    until,
  ]);
  expect(next.status).toBe(Number(next.verdict.slice(0, 3)));
});

test("a key that allows no requests never has another next request, and a fault may hit it", () => {
  const keys = {
    none: { environment: "test", limits: { per_minute: 0, per_day: 9 } },
    used: { environment: "test", usage: { today: 1000 } },
    main: { environment: "test" },
  } as const;
  const organizations = { bank: { type: "bank", keys } } as const;
  const world = openWorld({
    version: 1,
    organizations,
    faults: [{ when: { key: "main" }, then: { reset: true } }],
  });
  expect([nextRequest(world, "none").verdict, nextRequest(world, "none").until]).toEqual([
    ...["429 always: allows 0 requests a minute", null],
  ]);
  expect(nextRequest(world, "main").verdict).toBe("200, or a fault");
  advanceClock(world, 60_000);
  expect(nextRequest(world, "used").verdict).toMatch(/^429 until \d{4}-\d\d-\d\dT00:00:00Z$/);
  expect(nextRequest(world, "none").status).toBe(429);
});
