import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createSandbox, type Sandbox } from "../../src/index.js";
import { mePath } from "../support/doors.js";
import { runs } from "../support/property-seed.js";

// A fake Date moves the clock of a sandbox forward, and never back.

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const start = Date.UTC(2026, 2, 2, 9);

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: start }));
afterEach(() => void vi.useRealTimers());

const ask = (sandbox: Sandbox, ref: string) =>
  sandbox.fetch(`https://any.example${mePath}`, { headers: { "x-api-key": sandbox.secret(ref) } });

/** A request that was made, in the model. */
interface Made {
  readonly at: number;
  readonly counted: boolean;
}

/** The requests that count at the end of a history: those in the window of the last one. */
function countedIn(history: readonly Made[], isSameWindow: (one: number, other: number) => boolean): number {
  const now = history.at(-1)?.at ?? start;
  return history.filter(({ at, counted }) => counted && isSameWindow(at, now)).length;
}

const windowsOf = (length: number, offset: number) => (one: number, other: number) =>
  Math.floor((one - offset) / length) === Math.floor((other - offset) / length);
const slidingMinute = (earlier: number, later: number) => later >= earlier && later - earlier < minute;

const jump = fc.oneof(
  ...[1000, 20_000, 2 * minute, 5 * hour, 3 * day, 40 * day].map((max) => fc.integer({ min: -max, max })),
  fc.constantFrom(0, minute, -minute, day, -day, 1, -1),
);

test("usage matches the history of requests, no matter how the clock jumps", async () => {
  const flag = fc.boolean();
  const settings = fc.record({ sliding: flag, countRejected: flag, resetHour: fc.constantFrom(0, 6) });
  await fc.assert(
    fc.asyncProperty(settings, fc.array(jump, { maxLength: 40 }), async (given, jumps) => {
      vi.setSystemTime(start);
      const limits = { per_minute: 3, per_day: 7 };
      const sandbox = createSandbox({
        scenario: {
          version: 1,
          assumptions: {
            minute_window: given.sliding ? "sliding" : "fixed",
            day_resets_at: given.resetHour === 0 ? "00:00" : "06:00",
            count_rejected: given.countRejected,
            retry_after: "seconds",
          },
          organizations: { bank: { type: "bank", keys: { main: { environment: "test", limits } } } },
        },
      });
      const sameMinute = given.sliding ? slidingMinute : windowsOf(minute, 0);
      const sameDay = windowsOf(day, given.resetHour * hour);
      const history: Made[] = [];
      let at = start;
      for (const by of jumps) {
        vi.setSystemTime(Date.now() + by);
        at += Math.max(0, by);
        const before = [...history, { at, counted: false }];
        const [thisMinute, today] = [countedIn(before, sameMinute), countedIn(before, sameDay)];
        const admitted = thisMinute < limits.per_minute && today < limits.per_day;
        const response = await ask(sandbox, "main");
        expect(response.status).toBe(admitted ? 200 : 429);
        history.push({ at, counted: admitted || given.countRejected });
        if (admitted) expect((await response.json()).data.usage.today).toBe(today + 1);
        else expect(Number(response.headers.get("retry-after"))).toBeLessThanOrEqual(86_400);
        expect(sandbox.keys.get("main").usage).toEqual({
          thisMinute: countedIn(history, sameMinute),
          today: countedIn(history, sameDay),
        });
      }
    }),
    runs(80),
  );
});

test("R38 a key whose overlap has ended never works again, even if a fake Date moves back", async () => {
  const sandbox = createSandbox({ scenario: "key-states" });
  const old = sandbox.secret("active");
  sandbox.keys.rotate("active", { overlap: "60m" });
  const headers = { "x-api-key": old };
  for (const [at, status] of [
    [start + hour - 1, 200],
    [start + hour, 401],
    [start, 401],
    [start - 30 * day, 401],
  ] as const) {
    vi.setSystemTime(at);
    expect((await sandbox.fetch(`https://any.example${mePath}`, { headers })).status).toBe(status);
  }
  expect(sandbox.clock.now()).toBe("2026-03-02T10:00:00.000Z");
});
