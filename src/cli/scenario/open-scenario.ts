import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type OpenedScenario, openScenario } from "../../node/files/scenario-files.js";
import { shellWord } from "../../report/curl-line.js";
import { isScenarioName } from "../../scenario/bundled.js";
import type { LoadedScenario } from "../../scenario/scenario-source.js";
import { usageError } from "../exit-codes.js";
import type { Io } from "../io.js";

/** The name of stdin on a command line. */
export const stdinName = "-";

/** The file with the scenario of a folder: the default in this folder. */
export const folderScenarioFile = "svc-sandbox.yaml";
/** The bundled scenario that is the default in any other folder. */
const fallbackScenario = "key-states";

/** Loads the scenario that an argument names. Default: this folder's own, or `key-states`. */
export async function loadScenarioArgument(
  argument: string | undefined,
  io: Pick<Io, "cwd" | "stdin">,
): Promise<LoadedScenario> {
  const opened = await openScenarioArgument(argument, io);
  return opened.loaded;
}

/** Loads a scenario as `loadScenarioArgument` does, with the places of its fields. The signal ends the wait for stdin. */
export async function openScenarioArgument(
  argument: string | undefined,
  io: Pick<Io, "cwd" | "stdin">,
  signal?: AbortSignal,
): Promise<OpenedScenario> {
  const name = argument ?? findFolderScenario(io.cwd) ?? fallbackScenario;
  // Reading `io.stdin` opens it, so only `-` does.
  const stdin = name === stdinName ? io.stdin : undefined;
  return openScenario(name, { cwd: io.cwd, stdin, signal });
}

/** Whether a loaded scenario is a bundled one, which is in no file and not from stdin. */
export function isBundled({ files, piped }: LoadedScenario): boolean {
  return files.length === 0 && piped === undefined;
}

/** Whether a word is a scenario: a bundled name, a file that exists, or `-` for stdin. */
export function namesScenario(word: string, { cwd }: Io): boolean {
  return word === stdinName || isScenarioName(word) || existsSync(resolve(cwd, word));
}

/** The name of this folder's own scenario, if it has one. */
function findFolderScenario(cwd: string): string | undefined {
  // YAML files may also end with .yml.
  return [folderScenarioFile, "svc-sandbox.yml"].find((name) => existsSync(resolve(cwd, name)));
}

/** The name of a file for a command line: without a folder or extension, it could look like a bundled name. */
export function asFileArgument(name: string): string {
  const looksLikeFile = /[\\/.]/.test(name);
  return shellWord(looksLikeFile ? name : `./${name}`);
}

/** The given names, or this folder's own scenario. If there is none, the message has the verb and the alternative. */
export function scenarioArgumentsOrDefault(
  names: readonly string[],
  verb: string,
  { cwd, program }: Io,
  alternative = "",
): readonly string[] {
  if (names.length > 0) return names;
  const folderScenario = findFolderScenario(cwd);
  if (folderScenario !== undefined) return [folderScenario];
  throw usageError(
    `Failed to ${verb}: no scenario is given, and there is no ${folderScenarioFile} here. Give files or bundled names (\`${program} list\`)${alternative}.`,
  );
}
