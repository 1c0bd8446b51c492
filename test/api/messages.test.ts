import { expect, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import { bodyParts, utf8Length } from "../../src/api/http-messages.js";
import { nextRequest } from "../../src/api/next-request.js";
import { requestDetails } from "../../src/api/request-details.js";
import { startInNode } from "../../src/node/platform.js";
import { advanceClock } from "../../src/sandbox/operations/operations.js";
import { secretToSend } from "../../src/sandbox/secrets.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import { asked } from "../support/send.js";

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
  ["abcdef", { bytesPerSecond: 25 }, [2, 2, 2], 80],
  ["abcdef", { bytesPerSecond: 40.5 }, [3, 3], 3000 / 40.5],
  ["", { bytesPerSecond: 80 }, [], 50],
])("the body %j with %j is sent in parts of %j bytes, %i ms apart", (body, delivery, sizes, pauseMs) => {
  const { parts, pauseMs: pause } = bodyParts(body, delivery);
  expect([parts.map(({ length }) => length), pause]).toEqual([sizes, pauseMs]);
  expect(parts.map((part) => new TextDecoder().decode(part)).join("")).toBe(body.slice(0, delivery.cutAfter));
});

test.each([0.5, 1, 19, 29, 30, 31, 59, 100, 999])(
  "a slow body has its %d bytes each second",
  (bytesPerSecond) => {
    const { parts, pauseMs } = bodyParts("x".repeat(1000), { bytesPerSecond });
    const size = parts[0]?.length ?? 0;
    expect((1000 * size) / pauseMs).toBeCloseTo(bytesPerSecond);
    expect(pauseMs).toBeGreaterThanOrEqual(50);
  },
);

test("a key that allows no requests never has another next request, and a fault may hit it", () => {
  const keys = {
    never: { environment: "test", limits: { per_minute: 0, per_day: 9 } },
    used: { environment: "test", usage: { today: 1000 } },
    main: { environment: "test" },
  } as const;
  const organizations = { bank: { type: "bank", keys } } as const;
  const faults: Scenario["faults"] = [{ when: { key: "main" }, then: { reset: true } }];
  const sandbox = startInNode({ scenario: { version: 1, organizations, faults }, name: "limits" });
  expect([nextRequest(sandbox, "never").sentence, nextRequest(sandbox, "never").until]).toEqual([
    "429 always: allows 0 requests a minute",
    null,
  ]);
  expect(nextRequest(sandbox, "main").sentence).toBe("200, or a fault");
  advanceClock(sandbox, { by: 60_000 });
  expect(nextRequest(sandbox, "used").sentence).toMatch(/^429 until \d{4}-\d\d-\d\dT00:00:00Z$/);
  expect(nextRequest(sandbox, "never").status).toBe(429);
});

test("a limit that resets after the end of its key is not worth the wait", () => {
  const used = { environment: "test", usage: { today: 1000 } } as const;
  const keys = {
    expires: { ...used, expires: "1h" },
    later: { ...used, expires: "2d" },
    replaced: { ...used, name: "N", state: "retiring", replaced_by: "new", overlap_ends: "1h" },
    new: { environment: "test", name: "N" },
  } as const;
  const organizations = { bank: { type: "bank", keys } } as const;
  const clock = { now: "2026-03-02T09:00:00Z", frozen: true };
  const sandbox = startInNode({ scenario: { version: 1, clock, organizations }, name: "limits" });
  const expected = (ref: string) => {
    const { sentence, until } = nextRequest(sandbox, ref);
    const { id } = handle(sandbox, asked({ apiKey: secretToSend(sandbox, ref) }));
    return [sentence, until, requestDetails(sandbox, id).whatToDo];
  };
  const newKey = expect.stringMatching(/^Create a new key: waiting does not help/);
  expect(expected("expires")).toEqual(["429 the key expires first", null, newKey]);
  expect(expected("replaced")).toEqual(["429 the key's overlap ends first", null, newKey]);
  const wait = expect.stringMatching(/^Wait for the next day/);
  expect(expected("later")).toEqual(["429 until 2026-03-03T00:00:00Z", "2026-03-03T00:00:00.000Z", wait]);
});
