import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../test/support/property-seed.js";
import { nodePlatform } from "../node/platform.js";
import { bundledScenarios } from "../scenario/bundled.js";
import { VirtualClock } from "./clock.js";
import type { Platform } from "./platform.js";
import { checkedStart, startSandbox } from "./start-sandbox.js";

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

test("a running clock is at most a millisecond behind the real time, however long its sandbox takes to start", () => {
  const instant = fc.double({ min: 1_800_000_000_000, max: 1_800_000_001_000, noNaN: true });
  const fraction = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(
      instant,
      fraction,
      fraction,
      fc.double({ min: 0, max: 90_000, noNaN: true }),
      (at, offset, cost, later) => {
        let real = at;
        const platform: Platform = {
          ...nodePlatform,
          time: () => Math.floor(real),
          steadyTime: () => Math.floor(real + offset),
          endpoints: (scenario) => {
            real += cost * 100;
            return nodePlatform.endpoints(scenario);
          },
        };
        const named = { scenario: { ...bundledScenarios["key-states"], clock: {} }, name: "running" };
        const sandbox = startSandbox(checkedStart(named, { frozen: false }, { platform }));
        real += later;
        expect(sandbox.clock.now() - Math.floor(real)).toBeGreaterThanOrEqual(-1);
        expect(sandbox.clock.now() - Math.floor(real)).toBeLessThanOrEqual(1);
      },
    ),
    runs(50),
  );
});
