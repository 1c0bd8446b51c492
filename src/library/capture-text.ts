import type { World } from "../sandbox/world.js";
import { readableYaml } from "../scenario/read/yaml.js";
import { type CaptureOptions, captureWorld } from "./capture.js";

/** What a world has seen, as the text of a scenario file; throws as `captureWorld` does. */
export function captureText(world: World, options: CaptureOptions = {}): string {
  return readableYaml(captureWorld(world, options));
}
