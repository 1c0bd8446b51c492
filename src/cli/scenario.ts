import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ownAssumptionNames } from "../api/variation/vary.js";
import { type OpenedScenario, openScenario } from "../node/files/scenario-files.js";
import type { Logger } from "../node/logger.js";
import { shellWord } from "../report/curl-line.js";
import type { SandboxError } from "../rules/errors.js";
import { runDue } from "../sandbox/operations/operations.js";
import type { SandboxState, StartOptions } from "../sandbox/sandbox-state.js";
import { showProblems } from "../scenario/places.js";
import { ScenarioError } from "../scenario/problems.js";
import type { LoadedScenario } from "../scenario/scenario-source.js";
import { listed } from "../schema/words.js";
import { usageError } from "./exit-codes.js";
import type { Io } from "./io.js";

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

/**
 * Loads a scenario as `loadScenarioArgument` does, with the places of its fields. The signal ends the wait for stdin; `onFile` gets
 * each file that is read or looked for, also if the scenario cannot be loaded.
 */
export async function openScenarioArgument(
  argument: string | undefined,
  io: Pick<Io, "cwd" | "stdin">,
  options: { readonly signal?: AbortSignal; readonly onFile?: (file: string) => void } = {},
): Promise<OpenedScenario> {
  const name = argument ?? findFolderScenario(io.cwd) ?? fallbackScenario;
  const stdin = name === stdinName ? io.stdin() : undefined;
  return openScenario(name, { ...options, cwd: io.cwd, stdin });
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

/** Notes assumptions of the scenario that override a given `--profile`. */
export function warnOfStart(
  sandbox: SandboxState,
  { profile }: Pick<StartOptions, "profile">,
  log: Logger,
): void {
  const pinned = ownAssumptionNames(sandbox);
  // A state file overrides the flag.
  if (profile !== sandbox.profile || pinned.length === 0) return;
  const are = pinned.length === 1 ? "is" : "are";
  log.note(`${listed(pinned, "and")} ${are} set by ${sandbox.name}, not by --profile ${profile}.`);
}

/** The problems of a scenario as JSON, or the one problem that keeps its file from being read. */
export function problemsJson(error: SandboxError, file: string): readonly object[] {
  if (error instanceof ScenarioError) return error.problems;
  return [{ code: error.code, field: "", message: error.message, file }];
}

/** Warns of what is valid in a scenario, but usually a mistake: after the start of its sandbox, and after each reload. */
export async function warnOfScenario(
  { origin, loaded, places }: OpenedScenario,
  sandbox: SandboxState,
  startOptions: StartOptions,
  logger: Logger,
): Promise<void> {
  runDue(sandbox);
  warnOfStart(sandbox, startOptions, logger);

  // Bundled scenarios are tested, and one of a run has no places.
  if (origin === "bundled" || origin === "run") return;

  const { scenarioWarnings } = await import("../node/dry-run.js");
  const { name } = loaded;
  const { locate } = await places();
  const warnings = scenarioWarnings(loaded, startOptions);
  // The kinds are shown in this order.
  const titles: Readonly<Record<keyof typeof warnings, string>> = {
    failingSteps: `Steps of ${name} that may fail`,
    unmarkedSecrets: `Secrets of ${name} that may be real keys`,
    unheldScopes: `Scopes of ${name} that no key has`,
  };
  for (const kind of Object.keys(titles) as (keyof typeof titles)[]) {
    if (warnings[kind].length === 0) continue;
    const error = new ScenarioError(showProblems(warnings[kind], { locate, file: name }));
    logger.note(`${titles[kind]}:\n\n${error.message}\n`);
  }
}
