import { expect, test } from "vitest";
import { nodePlatform } from "../node/platform.js";
import { bundledScenarios } from "../scenario/bundled.js";
import { VirtualClock } from "./clock.js";
import type { Platform } from "./platform.js";
import { prepareStart, startSandbox } from "./start-sandbox.js";

test("a clock never runs backwards: it continues from a time that moved back", () => {
  let time = 1_000_000;
  const clock = new VirtualClock({ time: () => time, start: 100 });
  for (const [at, shown] of [
    [1_500_000, 500_100],
    [1_000_007, 500_100],
    [1_000_008, 500_101],
    [900_000, 500_101],
    [1_000_000, 600_101],
  ] as const) {
    time = at;
    expect([clock.now(), clock.now()]).toEqual([shown, shown]);
  }
});

test("a running clock shows the real time, however long its sandbox takes to start", () => {
  let real = 1_800_000_000_000;
  const platform: Platform = {
    ...nodePlatform,
    time: () => real,
    endpoints(scenario) {
      real += 90_000;
      return nodePlatform.endpoints(scenario);
    },
  };
  const source = { scenario: { ...bundledScenarios["key-states"], clock: {} }, name: "running" };
  const sandbox = startSandbox(prepareStart({ source, options: { frozen: false }, platform }));
  real += 1000;
  expect(sandbox.clock.now()).toBe(real);
});

test("a running clock continues at its last instant while the wall clock is behind it, and runs on from there", () => {
  let real = 1_800_000_000_000;
  const platform: Platform = { ...nodePlatform, time: () => real };
  const source = { scenario: { ...bundledScenarios["key-states"], clock: {} }, name: "running" };
  const sandbox = startSandbox(prepareStart({ source, options: { frozen: false }, platform }));
  const start = sandbox.clock.now();
  const shown: number[] = [];
  for (const step of [1000, -3_600_000, 0, 500, 3_600_000]) {
    real += step;
    shown.push(sandbox.clock.now() - start);
  }
  expect(shown).toEqual([1000, 1000, 1000, 1500, 3_601_500]);
});
