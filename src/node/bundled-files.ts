import { readFile } from "node:fs/promises";
import type { ScenarioName } from "../scenario/bundled.js";

// The one place that knows where the package's own files are: both `src/node` and the built files lie two folders
// below the package.
const packageFolder = new URL("../../", import.meta.url);

/** The YAML of a bundled scenario, as it stands in its file. */
export function readBundledScenario(name: ScenarioName): Promise<string> {
  return readFile(new URL(`scenarios/${name}.yaml`, packageFolder), "utf8");
}
