import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pinnedAssumptions } from "../api/variation/own-assumptions.js";
import { type OpenedScenario, openScenario } from "../node/files/scenario-files.js";
import type { Logger } from "../node/logger.js";
import { shellWord } from "../report/plain-text.js";
import type { SandboxError } from "../rules/errors.js";
import { redactKeys } from "../rules/redact.js";
import { isoTime, minute } from "../rules/time.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import type { LoadedScenario } from "../scenario/parse-scenario.js";
import { ScenarioError } from "../scenario/problems.js";
import { listed } from "../schema/words.js";
import { usageError } from "./exit-codes.js";
import type * as flag from "./flags.js";
import type { Io } from "./io.js";

/** The name of stdin on a command line. */
export const stdinName = "-";

/** The scenario of a folder, which is its default. */
export const ownScenario = "svc-sandbox.yaml";
/** The bundled scenario that is the default in any other folder. */
const fallbackScenario = "key-states";

/** Loads the scenario that an argument names. Default: this folder's own, or `key-states`. */
export async function loadNamed(
  name: string | undefined,
  io: Pick<Io, "cwd" | "stdin">,
): Promise<LoadedScenario> {
  const opened = await openNamed(name, io);
  return opened.loaded;
}

/** Loads a scenario as `loadNamed` does, with the places of its fields. The signal ends the wait for stdin. */
export async function openNamed(
  argument: string | undefined,
  io: Pick<Io, "cwd" | "stdin">,
  signal?: AbortSignal,
): Promise<OpenedScenario> {
  const name = argument ?? findOwnScenario(io.cwd) ?? fallbackScenario;
  // Reading `io.stdin` opens it, so only `-` does.
  const stdin = name === stdinName ? io.stdin : undefined;
  return openScenario(name, { cwd: io.cwd, stdin, signal });
}

/** The name of this folder's own scenario, if it has one. */
function findOwnScenario(cwd: string): string | undefined {
  // YAML files may also end with .yml.
  return [ownScenario, "svc-sandbox.yml"].find((name) => existsSync(resolve(cwd, name)));
}

/** The name of a file for a command line: without a folder or extension, it could look like a bundled name. */
export function asFileArgument(name: string): string {
  const looksLikeFile = /[\\/.]/.test(name);
  return shellWord(looksLikeFile ? name : `./${name}`);
}

/** The given names, or this folder's own scenario. If there is none, the message has the verb and the alternative. */
export function namedOrOwn(
  names: readonly string[],
  verb: string,
  { cwd, program }: Io,
  alternative = "",
): readonly string[] {
  if (names.length > 0) return names;
  const ownName = findOwnScenario(cwd);
  if (ownName !== undefined) return [ownName];
  throw usageError(
    `Failed to ${verb}: no scenario is given, and there is no ${ownScenario} here. Give files or bundled names (\`${program} list\`)${alternative}.`,
  );
}

/** Warns about assumptions of the scenario that override a given `--profile`. */
export function warnOfPinned(sandbox: SandboxState, { profile }: flag.SandboxFlags, log: Logger): void {
  // A state file overrides the flag.
  if (profile !== sandbox.profile) return;
  const pinned = pinnedAssumptions(sandbox);
  if (pinned.length === 0) return;
  const are = pinned.length === 1 ? "is" : "are";
  log.note(`${listed(pinned, "and")} ${are} set by ${sandbox.name}, not by --profile ${profile}.`);
}

/** Warns about dates in responses that are far from the client's clock: many clients compare them with it. */
export function warnOfDates(sandbox: SandboxState, log: Pick<Logger, "note">): void {
  const { clock, platform } = sandbox;
  const hasDates = sandbox.faults.some(({ effect }) => effect.retryAfter?.asDate);
  if (!hasDates && sandbox.assumptions.retry_after !== "date") return;
  const ahead = clock.now() - platform.time();
  if (Math.abs(ahead) < minute) return;

  let effect = "in the past for your client, which then retries immediately";
  if (ahead > 0) effect = "in the future for your client, which then waits for too long";
  log.note(
    `Retry-After has dates of the sandbox's clock, ${isoTime(clock.now())}: ${effect}. Start with --now ${isoTime(platform.time())}, or send seconds.`,
  );
}

/** The problems of a scenario, or the one that keeps its file from being read. */
export function problemsJson(error: SandboxError, file: string): readonly object[] {
  if (error instanceof ScenarioError) return error.problems;
  return [{ code: error.code, field: "", message: redactKeys(error.message), file: redactKeys(file) }];
}
