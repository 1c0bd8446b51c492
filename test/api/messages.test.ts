import { expect, test } from "vitest";
import { bodyParts } from "../../src/api/faults.js";
import { utf8Length } from "../../src/api/messages.js";
import { nextRequest } from "../../src/api/predict.js";
import { startInNode } from "../../src/node/platform.js";
import { advanceClock } from "../../src/sandbox/operations/operations.js";

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

test("a key that allows no requests never has another next request, and a fault may hit it", () => {
  const keys = {
    never: { environment: "test", limits: { per_minute: 0, per_day: 9 } },
    used: { environment: "test", usage: { today: 1000 } },
    main: { environment: "test" },
  } as const;
  const organizations = { bank: { type: "bank", keys } } as const;
  const sandbox = startInNode({
    version: 1,
    organizations,
    faults: [{ when: { key: "main" }, then: { reset: true } }],
  });
  expect([nextRequest(sandbox, "never").sentence, nextRequest(sandbox, "never").until]).toEqual([
    "429 always: allows 0 requests a minute",
    null,
  ]);
  expect(nextRequest(sandbox, "main").sentence).toBe("200, or a fault");
  advanceClock(sandbox, 60_000);
  expect(nextRequest(sandbox, "used").sentence).toMatch(/^429 until \d{4}-\d\d-\d\dT00:00:00Z$/);
  expect(nextRequest(sandbox, "never").status).toBe(429);
});
