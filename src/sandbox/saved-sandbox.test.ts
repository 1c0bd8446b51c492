import { expect, test } from "vitest";
import { continued, continuedSandbox, savedOf, snapshot } from "../../test/support/continued.js";
import { mePath, startFrozen } from "../../test/support/doors.js";
import { createSandbox } from "../index.js";
import type { Platform } from "./platform.js";
import { afterPause } from "./saved-sandbox.js";
import { prepareStart, startSandbox } from "./start-sandbox.js";

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
  const platform: Platform = { ...fast, time: read, sha256: slow };
  const source = { name: "rotation", text: undefined, scenario: structuredClone(scenario) };
  const sandbox = startSandbox(prepareStart({ source, options: { frozen: false }, platform }));
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

test("a sandbox continues with any requests of this minute, with its journal and its report", async () => {
  const usage = { this_minute: 10_000_000, today: 10_000_000 };
  const limits = { per_minute: 20_000_000, per_day: 20_000_000 };
  const keys = { main: { environment: "test", usage, limits } } as const;
  const sandbox = createSandbox({
    scenario: { version: 1, clock: { frozen: true }, organizations: { bank: { type: "bank", keys } } },
  });
  await sandbox.fetch(`https://any.example${mePath}`, { headers: { "x-api-key": sandbox.secret("main") } });

  const again = continued(sandbox);
  expect(again.keys.get("main").usage.thisMinute).toBe(10_000_001);
  expect(again.requests.list()).toEqual(sandbox.requests.list());
  expect(again.report()).toEqual(sandbox.report());
  expect(snapshot(again)).toEqual(snapshot(sandbox));
  again.reset();
  sandbox.reset();
  expect(again.keys.list()).toEqual(sandbox.keys.list());
});
