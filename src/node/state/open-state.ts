import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { SandboxError } from "../../domain/errors.js";
import { createRuntime, type GivenOptions, type Runtime } from "../../sandbox/runtime.js";
import { restoreWorld, snapshotWorld } from "../../sandbox/snapshot.js";
import type { World } from "../../sandbox/world.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import { fileFailure } from "../files/write-file.js";
import { nodePlatform, openWorld } from "../platform.js";
import { parseState, type SavedState, type ScenarioIdentity, stateText, unreadableState } from "./format.js";
import { saveOnChange } from "./save-on-change.js";

/** The place of a saved state. */
export interface StatePlace {
  /** Absolute. */
  readonly file: string;
  /** As it was given, for messages. */
  readonly given: string;
}

/** A runtime whose world outlives the process. */
export interface KeptState {
  readonly runtime: Runtime;
  /** When the world that goes on was saved (epoch milliseconds, wall clock); `undefined` for a new one. */
  readonly savedAt: number | undefined;
  /**
   * Writes the state, and from now on every change before it is acknowledged. `onProblem` is called when a later write
   * fails for which no caller waits. Throws `state_unwritable`.
   */
  readonly keep: (onProblem: (error: unknown) => void) => void;
  /** Says that the server's own scenario is this one from now on. */
  readonly startsWith: (scenario: NamedScenario) => void;
  /** Writes what is not written yet, and keeps nothing any more. */
  readonly close: () => void;
}

/**
 * Opens the state of a server: the world that the file holds goes on, or, where there is none, `start` starts one.
 *
 * The options `given` apply to scenarios that are started later; the world of the file has its own.
 *
 * Throws `state_unreadable`, or `state_mismatch` for a state of another scenario; the file stays as it is then.
 */
export function openState(
  place: StatePlace,
  own: NamedScenario,
  start: () => World,
  given: GivenOptions,
): KeptState {
  const saved = readState(place);
  if (saved !== undefined) refuseOther(saved, own, place);
  const runtime = saved === undefined ? createRuntime(start, { given }) : restoredRuntime(saved, own, given);
  let startedWith = identityOf(own);
  const save = (whatToDo: string) => writeState(place, stateOf(runtime.world(), startedWith), whatToDo);
  let close = () => {};
  return {
    runtime,
    savedAt: saved?.savedAt,
    keep(onProblem) {
      save("Name another file with --state.");
      close = saveOnChange(
        runtime,
        () => save("The change is made, but a restart would not know of it."),
        onProblem,
      );
    },
    startsWith(scenario) {
      startedWith = identityOf(scenario);
    },
    close: () => close(),
  };
}

function restoredRuntime(saved: SavedState, own: NamedScenario, given: GivenOptions): Runtime {
  // A file that was moved is called by its new name; a scenario that was put in its place later keeps its own.
  const name = saved.name === saved.startedWith.name ? own.name : saved.name;
  return createRuntime(
    () => restoreWorld(saved, nodePlatform.time() - saved.savedAt, { platform: nodePlatform, name }),
    {
      restart: () => openWorld(saved.scenario, { name }),
      given,
    },
  );
}

function stateOf(world: World, startedWith: ScenarioIdentity): SavedState {
  const revoked = [...world.registry.keys.values()].flatMap(({ key: { ref, revokedAt } }) =>
    revokedAt === undefined ? [] : [[ref, revokedAt] as const],
  );
  return {
    name: world.name,
    // Read before the clock: it goes on a moment ahead rather than going back.
    savedAt: nodePlatform.time(),
    startedWith,
    snapshot: snapshotWorld(world),
    scenario: world.scenario,
    revokedAt: Object.fromEntries(revoked),
    told: world.story.next,
  };
}

function identityOf({ name, scenario }: NamedScenario): ScenarioIdentity {
  return { name, sha256: nodePlatform.sha256(JSON.stringify(scenario)) };
}

function refuseOther({ startedWith }: SavedState, own: NamedScenario, { given }: StatePlace): void {
  if (startedWith.sha256 === identityOf(own).sha256) return;
  const [before, now] = [JSON.stringify(startedWith.name), JSON.stringify(own.name)];
  const why =
    before === now
      ? `the scenario ${now} is another one than when the state began`
      : `it was begun with the scenario ${before}, and this is ${now}`;
  throw new SandboxError(
    "state_mismatch",
    `Failed to go on from the state ${JSON.stringify(given)}: ${why}. Name another file with --state, or remove this one to start anew.`,
    { state: startedWith.name, scenario: own.name },
  );
}

function readState({ file, given }: StatePlace): SavedState | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unreadableState(given, fileFailure(error));
  }
  return parseState(text, given);
}

/**
 * Writes a state atomically, readable by its owner alone: a reader sees the old state or the new one.
 *
 * It outlives a process that is killed at any time; a machine that loses power may lose the latest writes, since
 * waiting for the disk each time would take longer than everything else. Throws `state_unwritable`.
 */
function writeState({ file, given }: StatePlace, state: SavedState, whatToDo: string): void {
  // Always the same name, so that processes which are killed do not leave a trail of drafts.
  const draft = `${file}.tmp`;
  try {
    rmSync(draft, { force: true });
    writeFileSync(draft, stateText(state), { mode: 0o600, flag: "wx" });
    renameSync(draft, file);
  } catch (error) {
    try {
      rmSync(draft, { force: true });
    } catch {
      // Where it cannot be removed it could not be made either.
    }
    const why = fileFailure(error);
    throw new SandboxError(
      "state_unwritable",
      `Failed to write the state to ${JSON.stringify(given)}: ${why}. ${whatToDo}`,
    );
  }
}
