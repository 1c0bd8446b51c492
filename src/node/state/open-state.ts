import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
// Node's own: in jsdom the global ones give a number, which has no `unref`, and fake ones would keep us from saving.
import { SandboxError } from "../../domain/errors.js";
import { isoOf } from "../../sandbox/clock.js";
import type { WorldEvent } from "../../sandbox/events.js";
import { createRuntime, type GivenOptions, type Runtime } from "../../sandbox/runtime.js";
import { describeRuntime, restoreRuntime } from "../../sandbox/state.js";
import type { World } from "../../sandbox/world.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import {
  fileFailure,
  makeFolder,
  removeOldDrafts,
  targetOf,
  writeFileAtomically,
} from "../files/write-file.js";
import { clearTimeout, nodePlatform, setTimeout } from "../platform.js";
import {
  brokenState,
  parseState,
  type SavedState,
  type ScenarioIdentity,
  stateText,
  unreadableState,
} from "./format.js";
import { lock } from "./lock.js";

/** The file of a saved state: its absolute path, and the one that was given, for messages. */
interface StatePlace {
  readonly file: string;
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
  /**
   * Writes what is not written yet, and keeps nothing any more; another server can open the file then. Throws
   * `state_unwritable`, and says what is lost.
   */
  readonly close: () => void;
}

/**
 * Opens the state of a server: the world that the file holds goes on, or, where there is none, `start` starts one.
 *
 * The options `given` apply to scenarios that are started later; the world of the file has its own.
 *
 * Throws `state_unreadable`, `state_mismatch` for a state of another scenario, or `state_in_use` when another server keeps
 * its world there; the file stays as it is then.
 */
export async function openState(
  place: StatePlace,
  own: NamedScenario,
  start: () => World,
  given: GivenOptions,
): Promise<KeptState> {
  const file = pathOf(place);
  const unlock = await lock(file);
  if (unlock === undefined) {
    throw new SandboxError(
      "state_in_use",
      `Failed to use the state ${JSON.stringify(place.given)}: a server that is running keeps its world there. Stop that one, or name another file with --state.`,
    );
  }
  try {
    removeOldDrafts(file);
    return openLocked({ ...place, file }, own, start, given, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

// A state is reached by several names, and they have one lock.
function pathOf({ file, given }: StatePlace): string {
  try {
    return targetOf(file);
  } catch (error) {
    throw unreadableState(given, fileFailure(error));
  }
}

function openLocked(
  place: StatePlace,
  own: NamedScenario,
  start: () => World,
  given: GivenOptions,
  unlock: () => void,
): KeptState {
  const saved = readState(place);
  let startedWith = identityOf(own);
  if (saved !== undefined && saved.startedWith.sha256 !== startedWith.sha256) {
    throw otherState(saved.startedWith.name, own.name, place.given);
  }
  const runtime = saved === undefined ? createRuntime(start, { given }) : restored(saved, own, given, place);
  let savedAt = "";
  const save = (whatToDo: string) => {
    const state = { startedWith, own: describeRuntime(runtime) };
    writeState(place, state, whatToDo);
    savedAt = isoOf(state.own.at);
  };
  let saveLast = () => {};
  return {
    runtime,
    savedAt: saved?.own.at,
    keep(onProblem) {
      const whatToDo = "Name another file with --state.";
      try {
        makeFolder(dirname(place.file));
      } catch (error) {
        throw unwritableState(place.given, error, whatToDo);
      }
      save(whatToDo);
      const saveChange = () => save("The change is made, but a restart would not know of it.");
      const stopSaving = saveOnChange(runtime, saveChange, onProblem);
      saveLast = () => {
        if (stopSaving()) save(`What happened since ${savedAt} is lost: a restart goes on from then.`);
      };
    },
    startsWith(scenario) {
      startedWith = identityOf(scenario);
    },
    close() {
      try {
        saveLast();
      } finally {
        unlock();
      }
    },
  };
}

function restored(
  { startedWith, own: state }: SavedState,
  own: NamedScenario,
  given: GivenOptions,
  place: StatePlace,
): Runtime {
  // A file that was moved is called by its new name; a scenario that was put in its place later keeps its own.
  const name = state.name === startedWith.name ? own.name : state.name;
  try {
    return restoreRuntime({ ...state, name }, nodePlatform, { given });
  } catch {
    throw brokenState(place.given);
  }
}

function identityOf({ name, scenario }: NamedScenario): ScenarioIdentity {
  return { name, sha256: nodePlatform.sha256(JSON.stringify(scenario)) };
}

function otherState(before: string, now: string, given: string): SandboxError {
  const [old, own] = [JSON.stringify(before), JSON.stringify(now)];
  const why =
    before === now
      ? `the scenario ${own} is another one than when the state began`
      : `it was begun with the scenario ${old}, and this is ${own}`;
  return new SandboxError(
    "state_mismatch",
    `Failed to go on from the state ${JSON.stringify(given)}: ${why}. Name another file with --state, or remove this one to start anew.`,
    { state: before, scenario: now },
  );
}

function readState({ file, given }: StatePlace): SavedState | undefined {
  let text: string;
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    // To read a pipe would wait for a writer.
    if (!found.isFile() && !found.isDirectory()) throw new Error("it is no regular file");
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw unreadableState(given, fileFailure(error));
  }
  return parseState(text, given);
}

// Readable by its owner alone: a scenario may pin keys.
function writeState({ file, given }: StatePlace, state: SavedState, whatToDo: string): void {
  try {
    writeFileAtomically(file, stateText(state), 0o600);
  } catch (error) {
    throw unwritableState(given, error, whatToDo);
  }
}

function unwritableState(given: string, error: unknown, whatToDo: string): SandboxError {
  return new SandboxError(
    "state_unwritable",
    `Failed to write the state to ${JSON.stringify(given)}: ${fileFailure(error)}. ${whatToDo}`,
  );
}

/**
 * Saves after everything that happens in a runtime; returns how to stop that, and whether something is unsaved then.
 *
 * An operation is saved before it is acknowledged: when `save` throws, so does the operation. Requests are saved
 * together and within a second (`longest` milliseconds and the writing itself), since a write for each would cost more than
 * its answer; `onProblem` is called when that fails.
 */
export function saveOnChange(
  runtime: Runtime,
  save: () => void,
  onProblem: (error: unknown) => void,
  longest = 800,
): () => boolean {
  let timer: NodeJS.Timeout | undefined;
  let failing = false;

  const saveNow = () => {
    clearTimeout(timer);
    timer = undefined;
    try {
      save();
      failing = false;
    } catch (error) {
      // Tried again until it works: the disk may have room later.
      soon();
      throw error;
    }
  };
  const saveUnasked = () => {
    const failedBefore = failing;
    try {
      saveNow();
    } catch (error) {
      failing = true;
      if (!failedBefore) onProblem(error);
    }
  };
  const soon = () => {
    timer ??= setTimeout(saveUnasked, longest).unref();
  };
  const stop = runtime.subscribe(({ type }: WorldEvent) => {
    if (type === "request") soon();
    else saveNow();
  });
  return () => {
    stop();
    const isUnsaved = timer !== undefined;
    clearTimeout(timer);
    timer = undefined;
    return isUnsaved;
  };
}
