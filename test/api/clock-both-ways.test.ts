import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createSandbox, type Sandbox } from "../../src/index.js";
import { runtimeOf } from "../../src/library/current-sandbox.js";
import { changeAssumptions } from "../../src/world/operations/world.js";
import { mePath } from "../support/doors.js";
import { runs } from "../support/property-seed.js";

// A fake Date takes the clock of a sandbox forth and back: what was counted in another minute or on another day is
// forgotten then, be it earlier or later.

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

/** The requests that count at the end of a history: those since when the clock has never shown another window. */
function countedIn(history: readonly Made[], isSameWindow: (one: number, other: number) => boolean): number {
  const times = history.map(({ at }) => at);
  const stayed = history.filter(({ at }, index) =>
    times.slice(index).every((time) => isSameWindow(at, time)),
  );
  return stayed.filter(({ counted }) => counted).length;
}

const windowsOf = (length: number, offset: number) => (one: number, other: number) =>
  Math.floor((one - offset) / length) === Math.floor((other - offset) / length);
const slidingMinute = (earlier: number, later: number) => later >= earlier && later - earlier < minute;

const jump = fc.oneof(
  ...[1000, 20_000, 2 * minute, 5 * hour, 3 * day, 40 * day].map((most) =>
    fc.integer({ min: -most, max: most }),
  ),
  fc.constantFrom(0, minute, -minute, day, -day, 1, -1),
);

test("usage is what a history of the requests says, however the clock jumps", async () => {
  const settings = fc.record({
    sliding: fc.boolean(),
    countRefused: fc.boolean(),
    resetHour: fc.constantFrom(0, 6),
  });
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
            count_refused: given.countRefused,
            retry_after: "seconds",
          },
          organizations: { bank: { type: "bank", keys: { main: { environment: "test", limits } } } },
        },
      });
      const sameMinute = given.sliding ? slidingMinute : windowsOf(minute, 0);
      const sameDay = windowsOf(day, given.resetHour * hour);
      const history: Made[] = [];
      for (const by of jumps) {
        const at = Date.now() + by;
        vi.setSystemTime(at);
        const before = [...history, { at, counted: false }];
        const [thisMinute, today] = [countedIn(before, sameMinute), countedIn(before, sameDay)];
        const admitted = thisMinute < limits.per_minute && today < limits.per_day;
        const response = await ask(sandbox, "main");
        expect(response.status).toBe(admitted ? 200 : 429);
        history.push({ at, counted: admitted || given.countRefused });
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

test("after a month of fake time a key works, and its client is judged, as if that had never been", async () => {
  const sandbox = createSandbox({ scenario: "key-states", now: "2026-03-02T09:00:00Z", profile: "typical" });
  vi.setSystemTime(start + 30 * day);
  for (let i = 0; i < 61; i++) await ask(sandbox, "active");
  vi.setSystemTime(start + 1);
  const answer = await ask(sandbox, "active");
  expect([answer.status, (await answer.json()).data.usage.today]).toEqual([200, 1]);
  for (let i = 0; i < 59; i++) await ask(sandbox, "active");
  const refused = await ask(sandbox, "active");
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(60);
  expect(sandbox.report().advice.map(({ id }) => id)).not.toContain("too-soon-after-429");
  expect(sandbox.clock.now()).toBe("2026-03-02T09:00:00.001Z");
});

test("what was done in fake time stays done: a revoked key, a step of the timeline", async () => {
  const sandbox = createSandbox({
    scenario: {
      version: 1,
      organizations: {
        bank: {
          type: "bank",
          keys: {
            one: { environment: "test" },
            two: { environment: "test" },
            three: { environment: "test" },
          },
        },
      },
      timeline: [{ at: "20d", revoke: { key: "two" } }],
    },
  });
  vi.setSystemTime(start + 30 * day);
  sandbox.keys.revoke("one");
  const states = () => sandbox.keys.list().map(({ state }) => state);
  expect(states()).toEqual(["revoked", "revoked", "active"]);
  vi.setSystemTime(start);
  expect(states()).toEqual(["revoked", "revoked", "active"]);
  expect((await ask(sandbox, "two")).status).toBe(401);
});

test("an assumption can be changed when what was counted lies in a time that is left", async () => {
  const sandbox = createSandbox({ scenario: "key-states", now: "2026-03-02T09:00:00Z" });
  const change = () => changeAssumptions(runtimeOf(sandbox).world(), { day_resets_at: "06:00" });
  vi.setSystemTime(start + 30 * day);
  await ask(sandbox, "active");
  expect(change).toThrow("cannot change while requests are counted");
  vi.setSystemTime(start);
  expect(change().day_resets_at).toBe("06:00");
});
