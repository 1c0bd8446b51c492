import { promises } from "node:fs";
import project from "../../package.json" with { type: "json" };
import { validationError } from "../rules/validation.js";
import type { ScenarioName } from "../scenario/bundled.js";
import { quote } from "../schema/words.js";

export const { version } = project;

/** Reads a file of the package by its path from the package's folder, such as `docs/errors.md`. */
export type PackageReader = (path: string) => Uint8Array | Promise<Uint8Array>;

// Both `src/node` and the built files are two levels below the package's folder.
let readFile: PackageReader = (path) => promises.readFile(new URL(`../../${path}`, import.meta.url));

/**
 * Sets how to read the files of this package: the pages of the dashboard and the documentation, and the YAML of bundled
 * scenarios. Only bundles need it, because their code is no longer next to these files.
 *
 * @example
 * setPackageReader((path) => readFile(join("node_modules/svc-sandbox", path)));
 */
export function setPackageReader(reader: PackageReader): void {
  if (typeof reader !== "function") {
    const message = `reader must be a function that reads a file, not ${quote(reader)}`;
    throw validationError("set the reader", [{ field: ["reader"], message }]);
  }
  readFile = reader;
}

export async function packageFile(path: string): Promise<Buffer> {
  return Buffer.from(await readFile(path));
}

export async function readBundledScenario(name: ScenarioName): Promise<string> {
  return (await packageFile(`scenarios/${name}.yaml`)).toString();
}
