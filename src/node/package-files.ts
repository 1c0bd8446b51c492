import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { ScenarioName } from "../scenario/bundled.js";

// Both `src/node` and the built files lie two folders below the package.
const packageFolder = new URL("../../", import.meta.url);

/** The version of svc-sandbox; read at run time, so that a release is one changed line. */
export const version: string = (createRequire(import.meta.url)("../../package.json") as { version: string })
  .version;

/** Reads the YAML of a bundled scenario as it stands in its file. */
export function readBundledScenario(name: ScenarioName): Promise<string> {
  return readFile(new URL(`scenarios/${name}.yaml`, packageFolder), "utf8");
}

/** The folder of the dashboard's page, which is built before it can be served. */
export const dashboardFolder = fileURLToPath(new URL("dist/dashboard/", packageFolder));
