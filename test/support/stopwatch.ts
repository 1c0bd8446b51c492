import { vi } from "vitest";
import { createSandbox } from "../../src/index.js";
import { runtimeOf } from "../../src/library/current-sandbox.js";
import { nodePlatform } from "../../src/node/platform.js";

/**
 * Holds the stopwatch of every sandbox; returns how to let milliseconds pass on it. Fake timers do not reach it.
 *
 * `vi.restoreAllMocks` lets it go.
 */
export function holdStopwatch(): (ms: number) => void {
  let reading = 0;
  for (const platform of [nodePlatform, runtimeOf(createSandbox()).world().platform]) {
    vi.spyOn(platform, "stopwatch").mockImplementation(() => reading);
  }
  return (ms) => {
    reading += ms;
  };
}
