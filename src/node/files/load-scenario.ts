import { closeSync, openSync, readSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { SandboxError } from "../../domain/errors.js";
import { isScenarioName, scenarioNotFound } from "../../scenario/bundled.js";
import type { ScenarioLookup } from "../../scenario/parse-scenario.js";
import { maximumScenarioBytes } from "../../scenario/read/source.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { withStory } from "../../scenario/stories.js";
import { loadFarmersFor } from "../platform.js";
import { fileFailure } from "./write-file.js";

/** A scenario and where it came from. */
export interface LoadedScenario {
  readonly scenario: Scenario;
  /** The bundled name, or the file as it was given. */
  readonly name: string;
  /** Absolute paths of the files that make it up, those it extends included; none for a bundled one. */
  readonly files: readonly string[];
}

/**
 * Loads a bundled scenario by name, or a scenario file.
 *
 * A bundled name wins; a file of the same name is reached as `./name`. Throws `scenario_not_found`,
 * `file_unreadable`, or a `ScenarioError` with every problem of the file.
 */
export async function loadScenario(
  nameOrFile: string,
  { cwd = process.cwd() }: { cwd?: string } = {},
): Promise<LoadedScenario> {
  if (isScenarioName(nameOrFile)) {
    const scenario = withStory(nameOrFile);
    await loadFarmersFor(scenario);
    return { scenario, name: nameOrFile, files: [] };
  }
  const { text, file, load, files } = openScenarioFile(nameOrFile, cwd);
  const { parseScenario } = await import("../../scenario/parse-scenario.js");
  const scenario = parseScenario(text, { file, load });
  await loadFarmersFor(scenario);
  return { scenario, name: nameOrFile, files };
}

/** Reads a scenario file; `load` reads the files that it extends, and `files` collects the paths of all. */
export function openScenarioFile(nameOrFile: string, cwd: string) {
  const file = resolve(cwd, nameOrFile);
  const files = [file];
  const load: ScenarioLookup = (name, from = file) => {
    const base = resolve(dirname(resolve(cwd, from)), name);
    files.push(base);
    return { text: readScenarioFile(base, name), file: base };
  };
  return { text: readScenarioFile(file, nameOrFile), file: nameOrFile, load, files };
}

// Read as UTF-8; the parser refuses anything but text. One byte more than a scenario may have is enough for it to refuse the
// file, however large that is.
function readScenarioFile(file: string, given: string): string {
  const start = Buffer.alloc(maximumScenarioBytes + 1);
  let length = 0;
  try {
    const descriptor = openSync(file, "r");
    try {
      for (let more = -1; more !== 0 && length < start.length; length += more) {
        more = readSync(descriptor, start, length, start.length - length, null);
      }
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw unreadable(error as NodeJS.ErrnoException, given);
  }
  return new TextDecoder("utf-8").decode(start.subarray(0, length));
}

/** Makes the error for a scenario that cannot be read from that of the file system. */
export function unreadable(error: NodeJS.ErrnoException, given: string): SandboxError {
  if (error.code !== "ENOENT") {
    const message = `Failed to read the scenario ${JSON.stringify(given)}: ${fileFailure(error)}.`;
    return new SandboxError("file_unreadable", message);
  }
  return scenarioNotFound(given, "it is neither a file nor a bundled name");
}
