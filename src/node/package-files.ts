import { promises as files, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ScenarioName } from "../scenario/bundled.js";

// Both `src/node` and the built files lie two folders below the package.
const packageFolder = new URL("../../", import.meta.url);

/** The version of svc-sandbox; read at run time, so that a release is one changed line. */
export const { version } = JSON.parse(readFileSync(new URL("package.json", packageFolder), "utf8")) as {
  readonly version: string;
};

/** Reads the YAML of a bundled scenario as it stands in its file. */
export function readBundledScenario(name: ScenarioName): Promise<string> {
  return files.readFile(new URL(`scenarios/${name}.yaml`, packageFolder), "utf8");
}

/** The folder of the dashboard's page, which is built before it can be served. */
export const dashboardFolder = fileURLToPath(new URL("dist/dashboard/", packageFolder));

/** The folder of the documentation's pages, which are built before they can be served. */
export const siteFolder = fileURLToPath(new URL("dist/site/", packageFolder));
