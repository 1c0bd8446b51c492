import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pinnedAssumptions } from "../api/variation/vary.js";
import { SandboxError } from "../domain/errors.js";
import { redactKeys } from "../domain/redact.js";
import { type LoadedScenario, loadScenario } from "../node/files/load-scenario.js";
import type { Logger } from "../node/logger.js";
import { openWorld } from "../node/platform.js";
import { formatProblem, ScenarioError, type ScenarioProblem } from "../scenario/problems/scenario-error.js";
import { listed, quote } from "../schema/words.js";
import type { ChangeFields } from "../world/changes.js";
import { createRuntime, type GivenOptions, givenOptions, type Runtime } from "../world/runtime.js";
import type { World } from "../world/world.js";
import { usageError } from "./exit-codes.js";
import type { WorldFlags } from "./flags.js";
import type { Io } from "./io.js";

/** The file that is taken when no scenario is named, and the bundled scenario when it is not there. */
export const ownScenario = "svc-sandbox.yaml";
const fallbackScenario = "key-states";

// The other ending of YAML counts as well.
function ownIn(cwd: string): string | undefined {
  return [ownScenario, "svc-sandbox.yml"].find((name) => existsSync(resolve(cwd, name)));
}

/** Loads the scenario of this name or file, else this folder's own, else `key-states`; the signal ends the wait for a pipe. */
export async function loadNamed(
  word: string | undefined,
  { cwd, stdin }: Pick<Io, "cwd" | "stdin">,
  signal?: AbortSignal,
): Promise<LoadedScenario> {
  const name = word ?? ownIn(cwd) ?? fallbackScenario;
  try {
    return await loadScenario(name, { cwd, stdin, ...(signal !== undefined && { signal }) });
  } catch (error) {
    throw withCount(error, name);
  }
}

/** The announced changes of a scenario by name or file; throws `usage` for one without. */
export async function loadChanges(word: string, io: Io): Promise<ChangeFields> {
  const { changes } = (await loadNamed(word, io)).scenario;
  if (changes !== undefined) return changes;
  throw usageError(
    `The scenario ${quote(word)} has no announced changes. For an example, run svc-sandbox show announced-changes`,
  );
}

/** The scenario with the announced changes that `--changes` names instead of its own. */
export async function withChanges(
  loaded: LoadedScenario,
  word: string | undefined,
  io: Io,
): Promise<LoadedScenario> {
  if (word === undefined) return loaded;
  const { text: _, scenario, ...rest } = loaded;
  return { ...rest, scenario: { ...scenario, changes: await loadChanges(word, io) } };
}

/** The scenarios that are named, else this folder's own; throws `usage` when there is neither. */
export function namedOrOwn(words: readonly string[], doing: string, { cwd }: Io, or = ""): readonly string[] {
  if (words.length > 0) return words;
  const own = ownIn(cwd);
  if (own !== undefined) return [own];
  throw usageError(
    `Failed to ${doing}: no scenario was named, and there is no ${ownScenario} here. Name one or more, files or bundled names (\`svc-sandbox list\`)${or}.`,
  );
}

/** Opens a world of a loaded scenario, as the flags want it. */
export function openNamed({ scenario, name, text }: LoadedScenario, flags: GivenOptions): World {
  return openWorld(scenario, { name, text, ...givenOptions(flags) });
}

/** Starts a runtime with a world of a loaded scenario; the flags hold for every scenario that it starts. */
export function startNamed(loaded: LoadedScenario, flags: GivenOptions): Runtime {
  return createRuntime(() => openNamed(loaded, flags), { given: givenOptions(flags) });
}

/** Runs the timeline and the story of a scenario once; returns the steps that do not come out as they say. */
export async function stepsThatFail(
  loaded: LoadedScenario,
  flags: WorldFlags,
  { cwd }: Io,
): Promise<ScenarioProblem[]> {
  // Most starts have nothing to rehearse.
  const { rehearsalProblems, placeInScenario } = await import("../node/rehearsal.js");
  return rehearsalProblems(
    loaded,
    (path) => placeInScenario(loaded.name, path, cwd, loaded.piped),
    givenOptions(flags),
  );
}

/** Warns of the steps of a scenario file that do not come out as they say. Bundled scenarios have been tried. */
export async function warnOfSteps(
  loaded: LoadedScenario,
  flags: WorldFlags,
  io: Io,
  log: Logger,
): Promise<void> {
  const isBundled = loaded.files.length === 0 && loaded.piped === undefined;
  const problems = isBundled ? [] : await stepsThatFail(loaded, flags, io);
  if (problems.length === 0) return;
  const texts = problems.map(formatProblem).join("\n\n");
  log.note(`Steps of ${loaded.name} that may fail:\n\n${texts}\n`);
}

/** Says which assumptions of the scenario hold against a `--profile` that was given. */
export function warnOfPinned(world: World, { profile }: WorldFlags, log: Logger): void {
  // A kept state wins over the flag.
  const pinned = profile === world.profile ? pinnedAssumptions(world) : [];
  if (pinned.length === 0) return;
  log.note(
    `${world.name} sets ${listed(pinned, "and")} itself, which --profile ${profile} does not change. Remove what the profile is to decide from its assumptions.`,
  );
}

/** Names the scenario and counts its problems above the list of them. */
export function withCount<Failure>(error: Failure, name: string): Failure | SandboxError {
  if (!(error instanceof ScenarioError)) return error;
  const { length } = error.problems;
  const count = length === 1 ? "a problem" : `${length} problems`;
  const message = `The scenario ${JSON.stringify(name)} has ${count}.\n\n${error.message}`;
  return new SandboxError("scenario_invalid", message);
}

/** The problems of a scenario for machines: those of its text, or why it could not be read. */
export function problemsJson(error: SandboxError, file: string): readonly object[] {
  if (error instanceof ScenarioError) return error.problems;
  return [{ code: error.code, path: "", message: redactKeys(error.message), file: redactKeys(file) }];
}
