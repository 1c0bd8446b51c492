import { isScenarioName } from "../scenario/bundled.js";
import type { FoundPlace, ParseOptions } from "../scenario/parse-scenario.js";
import type { Path } from "../scenario/problems/scenario-error.js";
import { openScenarioFile } from "./files/load-scenario.js";
import { readBundledScenario } from "./package-files.js";

/**
 * Returns the place of the field at a path, in the file of a scenario or in one that it extends.
 *
 * `undefined` for what comes from a bundled scenario that the file extends, and when no file can be read any more.
 */
export async function placeInScenario(
  nameOrFile: string,
  path: Path,
  cwd: string,
): Promise<FoundPlace | undefined> {
  try {
    const { text, ...options } = await textOf(nameOrFile, cwd);
    const { placeOf } = await import("../scenario/parse-scenario.js");
    const place = placeOf(text, path, options);
    // What no text holds is looked for around it, until nothing but the whole file is left.
    const whole = placeOf(text, [], options);
    const isWhole =
      place?.file === whole?.file && place?.line === whole?.line && place?.column === whole?.column;
    return isWhole ? undefined : place;
  } catch {
    // It was read when it was loaded; by now it may have been changed.
    return undefined;
  }
}

async function textOf(nameOrFile: string, cwd: string): Promise<ParseOptions & { readonly text: string }> {
  if (!isScenarioName(nameOrFile)) return openScenarioFile(nameOrFile, cwd);
  return { text: await readBundledScenario(nameOrFile), file: `scenarios/${nameOrFile}.yaml` };
}
