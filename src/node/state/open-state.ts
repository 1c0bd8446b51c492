import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
// Node's own: in jsdom the global ones give a number, which has no `unref`, and fake ones would keep us from saving.
import { clearTimeout, setTimeout } from "node:timers";
import { SandboxError } from "../../domain/errors.js";
import type { WorldEvent } from "../../sandbox/events.js";
import { createRuntime, type GivenOptions, type Runtime } from "../../sandbox/runtime.js";
import { restoreWorld, snapshotWorld } from "../../sandbox/snapshot.js";
import type { World } from "../../sandbox/world.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import { fileFailure } from "../files/write-file.js";
import { nodePlatform, openWorld } from "../platform.js";
import { parseState, type SavedState, type ScenarioIdentity, stateText, unreadableState } from "./format.js";

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
  let startedWith = identityOf(own);
  if (saved !== undefined && saved.startedWith.sha256 !== startedWith.sha256) {
    throw otherState(saved.startedWith.name, own.name, place.given);
  }
  const runtime = saved === undefined ? createRuntime(start, { given }) : restoredRuntime(saved, own, given);
  const save = (whatToDo: string) => writeState(place, stateOf(runtime.world(), startedWith), whatToDo);
  let close = () => {};
  return {
    runtime,
    savedAt: saved?.savedAt,
    keep(onProblem) {
      save("Name another file with --state.");
      const saveChange = () => save("The change is made, but a restart would not know of it.");
      close = saveOnChange(runtime, saveChange, onProblem);
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
  const elapsed = nodePlatform.time() - saved.savedAt;
  return createRuntime(() => restoreWorld(saved, elapsed, { platform: nodePlatform, name }), {
    restart: () => openWorld(saved.scenario, { name }),
    given,
  });
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

/**
 * Saves after everything that happens in a runtime; returns how to stop that, which saves what is unsaved.
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
): () => void {
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
    if (timer !== undefined) saveUnasked();
    clearTimeout(timer);
  };
}
