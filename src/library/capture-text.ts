import type { World } from "../sandbox/world.js";
import { maximumScenarioBytes } from "../scenario/problems/scenario-error.js";
import { readableYaml } from "../scenario/yaml.js";
import { SandboxError } from "../spec/errors.js";
import { type CaptureOptions, captureWorld } from "./capture.js";

/**
 * Captures a sandbox as the text of a scenario file. Throws the errors of `captureWorld`, and `capture_impossible` for a text
 * that is too large for a scenario.
 */
export function captureText(world: World, options: CaptureOptions = {}): string {
  const text = readableYaml(captureWorld(world, options));
  if (new TextEncoder().encode(text).length <= maximumScenarioBytes) return text;
  throw new SandboxError(
    "capture_impossible",
    "The capture would be larger than 1 MiB. Capture a part with from and to, or with key.",
  );
}
