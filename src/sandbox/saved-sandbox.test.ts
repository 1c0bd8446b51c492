import { expect, test } from "vitest";
import { continuedSandbox, savedOf } from "../../test/support/continued.js";
import { mePath, startFrozen } from "../../test/support/doors.js";
import { createSandbox } from "../index.js";
import type { Platform } from "./platform.js";
import { afterPause } from "./saved-sandbox.js";
import { checkedStart, startSandbox } from "./start-sandbox.js";

/** A sandbox whose clock runs by a time that each reading of a clock, or each hash, moves by a second. */
function startSlow(): { platform: Platform; sandbox: ReturnType<typeof startSandbox> } {
  const { platform: fast, scenario } = startFrozen("rotation");
  let time = Date.parse("2026-03-02T09:00:00Z");
  const read = () => {
    time += 1000;
    return time;
  };
  const slow = (text: string) => {
    read();
    return fast.sha256(text);
  };
  const platform: Platform = { ...fast, time: read, steadyTime: read, sha256: slow };
  const source = { name: "rotation", text: undefined, scenario: structuredClone(scenario) };
  const sandbox = startSandbox(checkedStart(source, { frozen: false }, { platform }));
  return { platform, sandbox };
}

test("a clock that runs advances by the time since the sandbox was saved, once, however long the restart takes", () => {
  const { platform, sandbox } = startSlow();
  const before = platform.time() - sandbox.clock.now();
  const savedAt = platform.time();
  const saved = savedOf(sandbox);
  const continued = continuedSandbox(afterPause(saved, platform.time() - savedAt), platform);
  const after = platform.time() - continued.clock.now();
  // The wall clock and the clock of the sandbox are not read at the same time: each reading takes a second.
  expect(Math.abs(after - before)).toBeLessThanOrEqual(3000);
});

test("a continued sandbox knows when its scenario started", () => {
  const { platform, sandbox } = startSlow();
  expect(continuedSandbox(savedOf(sandbox), platform).startedAt).toBe(sandbox.startedAt);
});

test.each([
  [
    "of another version",
    { svc_sandbox_state: 1 },
    {},
    "its format is 1, and this version of svc-sandbox reads format",
  ],
  ["with a changed member", { total: 7 }, {}, "it was changed"],
  ["with another checksum", { sum: "" }, {}, "it was changed"],
  [
    "with an option that it has itself",
    {},
    { seed: 2, frozen: true },
    "seed is in the snapshot already: leave it out",
  ],
])("a snapshot %s does not continue", (_what, change, options, message) => {
  const scenario = { ...createSandbox().snapshot(), ...change };
  const error = expect.objectContaining({
    code: "validation_failed",
    message: expect.stringContaining(message),
  });
  expect(() => createSandbox({ scenario, ...options })).toThrow(error);
});

test("a sandbox continues from its snapshot with any requests of this minute, with its journal and its report", async () => {
  const usage = { this_minute: 10_000_000, today: 10_000_000 };
  const limits = { per_minute: 20_000_000, per_day: 20_000_000 };
  const keys = { main: { environment: "test", usage, limits } } as const;
  const sandbox = createSandbox({
    scenario: { version: 1, clock: { frozen: true }, organizations: { bank: { type: "bank", keys } } },
  });
  await sandbox.fetch(`https://any.example${mePath}`, { headers: { "x-api-key": sandbox.secret("main") } });

  const snapshot = JSON.parse(JSON.stringify(sandbox.snapshot()));
  const continued = createSandbox({ scenario: snapshot });
  expect(continued.keys.get("main").usage.thisMinute).toBe(10_000_001);
  expect(continued.requests.list()).toEqual(sandbox.requests.list());
  expect(continued.report()).toEqual(sandbox.report());
  expect(continued.snapshot()).toEqual(sandbox.snapshot());
  continued.reset();
  expect(continued.keys.list()).toEqual(createSandbox({ scenario: snapshot.scenario }).keys.list());
});
