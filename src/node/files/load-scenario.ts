import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
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
  options: { cwd?: string } = {},
): Promise<LoadedScenario> {
  const found = await findScenario(nameOrFile, options);
  await loadFarmersFor(found.scenario);
  return found;
}

async function findScenario(nameOrFile: string, options: { cwd?: string }): Promise<LoadedScenario> {
  if (isScenarioName(nameOrFile)) {
    return { scenario: withStory(nameOrFile), name: nameOrFile, files: [] };
  }
  const { text, file, load, files } = openScenarioFile(nameOrFile, options.cwd ?? process.cwd());
  const { parseScenario } = await import("../../scenario/parse-scenario.js");
  const scenario = parseScenario(text, { file, load });
  return { scenario, name: nameOrFile, files };
}

/** Reads a scenario file; `load` reads the files that it extends, and `files` collects the paths of all. */
export function openScenarioFile(nameOrFile: string, cwd: string) {
  const file = resolve(cwd, nameOrFile);
  const files = [file];
  const load: ScenarioLookup = (name, from) => {
    const base = isAbsolute(name)
      ? name
      : resolve(from === undefined ? dirname(file) : dirname(resolve(cwd, from)), name);
    files.push(base);
    return { text: readScenarioFile(base, name), file: base };
  };
  return { text: readScenarioFile(file, nameOrFile), file: nameOrFile, load, files };
}

/** Reads a scenario file as UTF-8; throws `scenario_not_found` or `file_unreadable`. The parser refuses anything but text. */
function readScenarioFile(file: string, given: string): string {
  try {
    return new TextDecoder("utf-8").decode(readStart(file, maximumScenarioBytes + 1));
  } catch (error) {
    throw unreadable(error as NodeJS.ErrnoException, given);
  }
}

// One byte more than a scenario may have is enough for the parser to refuse it, however large the file is.
function readStart(file: string, length: number): Buffer {
  const descriptor = openSync(file, "r");
  try {
    const start = Buffer.alloc(Math.min(length, Math.max(fstatSync(descriptor).size, 64 * 1024)));
    let read = 0;
    for (;;) {
      const more = readSync(descriptor, start, read, start.length - read, null);
      read += more;
      if (more === 0 || read === start.length) return start.subarray(0, read);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Makes the error for a scenario that cannot be read from that of the file system. */
export function unreadable(error: NodeJS.ErrnoException, given: string): SandboxError {
  if (error.code !== "ENOENT") {
    const message = `Failed to read the scenario ${JSON.stringify(given)}: ${fileFailure(error)}.`;
    return new SandboxError("file_unreadable", message);
  }
  return scenarioNotFound(given, "it is neither a file nor a bundled name");
}
