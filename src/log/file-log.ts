import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { lock } from "../node/files/lock.js";
import { createSaver } from "../node/files/saver.js";
import { fileFailure, makeFolder, targetOf, writeFileAtomically } from "../node/files/write-file.js";
import { nodePlatform } from "../node/platform.js";
import type { GivenOptions, SandboxState } from "../sandbox/sandbox.js";
import { restoreSandbox } from "../sandbox/start.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { SandboxError } from "../spec/errors.js";
import { base62From } from "../spec/seed.js";
import { sandboxExists } from "./founding.js";
import type { InstanceLimits } from "./instances.js";
import { distantId } from "./log.js";
import { createMemoryLog, describeServer, type MemoryLog } from "./memory-log.js";
import {
  brokenState,
  continueState,
  identityOf,
  markOf,
  parseState,
  type SavedState,
  stateText,
  unreadableState,
} from "./state-file.js";

/** The file of a saved state: its absolute path, and the given path for messages. */
interface StatePlace {
  readonly file: string;
  readonly given: string;
}

export interface FileLogOptions extends InstanceLimits {
  readonly own: () => NamedScenario;
  readonly start: () => SandboxState;
  /** The options of scenarios that start later; the saved state has its own. */
  readonly given: GivenOptions;
  readonly imported?: { readonly text: string; readonly given: string } | undefined;
  /** Whether to continue a state, after a backup, if its scenario has been extended. Default: false. */
  readonly migrate?: boolean | undefined;
  readonly onProblem: (error: unknown) => void;
}

export interface FileLog extends MemoryLog {
  /** When the state was saved (epoch milliseconds, wall clock); `undefined` for a new state. */
  readonly savedAt: number | undefined;
  /** A sentence about a migration, and where the state before is. */
  readonly migrated: string | undefined;
}

/**
 * Opens the log of a server that is saved to a file, and continues everything in the file.
 *
 * A change is written before it is acknowledged; requests are written soon after, together. Throws `state_unreadable`,
 * `state_mismatch` for another scenario's state, or `state_in_use` if another server uses the file. An error leaves the file
 * unchanged.
 */
export async function openFileLog(place: StatePlace, options: FileLogOptions): Promise<FileLog> {
  // All names of a state's file share one lock.
  const file = orUnreadable(place.given, () => targetOf(place.file));
  const unlock = await lock(file);
  if (unlock === undefined) {
    throw new SandboxError(
      "state_in_use",
      `The state ${JSON.stringify(place.given)} is in use by a running server. Stop that server, or name another file with --state.`,
    );
  }
  try {
    return openLocked({ ...place, file }, options, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

function openLocked(place: StatePlace, options: FileLogOptions, unlock: () => void): FileLog {
  const { own, start, given, onProblem, imported, migrate = false, ...limits } = options;
  const text = readState(place);
  if (text !== undefined && imported !== undefined) {
    throw sandboxExists(`The state ${JSON.stringify(place.given)}`, "name another file with --state");
  }
  const from = imported ?? (text === undefined ? undefined : { text, given: place.given });
  const saved = from && parseState(from.text, from.given);
  const found = saved && continueState(saved, own(), { given: from.given, isAllowed: migrate });
  const log =
    found === undefined ? createMemoryLog(start(), limits) : restored(place.given, found.state, options);
  const { runtime, instances } = log;
  const change = migrate ? found?.change : undefined;
  const backup = change && text && ` The previous state is in "${backUp(place, text, saved?.version)}".`;
  const file = createStateFile(place, log, own, text);
  const saver = createSaver(file.save, onProblem);
  let isCalled = false;
  const keep = (one: SandboxState) => {
    one.history.subscribe(({ type }) => {
      // A call saves once it has its result; nobody waits for a timeline step.
      if (isCalled || type === "request" || type === "timeline.step") saver.soon();
      else saver.now();
    });
  };
  const afterCall = (answer: unknown) => {
    try {
      saver.now();
    } catch (error) {
      onProblem(error);
      const { code, message } = error as SandboxError;
      throw new SandboxError(code, message, answer === undefined ? {} : { data: answer });
    }
    return answer;
  };
  // A call changes something before it waits for anything.
  const keeping = (run: () => unknown): unknown => {
    isCalled = true;
    try {
      const answer = run();
      return answer instanceof Promise ? answer.then(afterCall) : afterCall(answer);
    } finally {
      isCalled = false;
    }
  };
  return {
    ...log,
    savedAt: saved?.own.at,
    migrated: change && change + (backup ?? ""),
    // Followers of an earlier process must notice that they have missed events.
    firstEvent: distantId,
    countUnread(at, id) {
      log.countUnread(at, id);
      saver.soon();
    },
    call: (call, run, from) => keeping(() => log.call(call, run, from)),
    manage: (run, from) => keeping(() => log.manage(run, from)),
    status: file.status,
    begin() {
      if (text === undefined) orUnwritable(place.given, () => makeFolder(dirname(place.file)));
      keep(runtime);
      instances.follow((instance) => {
        keep(instance.runtime);
        instance.gone.addEventListener("abort", () => {
          // When the server stops, the instance is still in the list.
          if (instances.find(instance.id) === undefined) saver.soon();
        });
        saver.soon();
      });
      try {
        saver.now();
      } catch (error) {
        // The file has the whole state, and is written once the disk allows it.
        if (text === undefined) throw error;
        onProblem(error);
      }
    },
    close() {
      try {
        if (saver.stop()) file.save();
      } finally {
        unlock();
      }
    },
  };
}

function restored(file: string, state: SavedState, options: FileLogOptions): MemoryLog {
  try {
    const runtime = restoreSandbox(state.own, nodePlatform, { given: options.given });
    const log = createMemoryLog(runtime, options);
    log.instances.restore(state.instances);
    runtime.idSeries.last = state.idSeries;
    return log;
  } catch {
    throw brokenState(file);
  }
}

function createStateFile(place: StatePlace, log: MemoryLog, own: () => NamedScenario, text?: string) {
  let written = text && markOf(text);
  let bytes = 0;
  let failure: unknown;
  // The lock does not protect from other containers that mount the volume.
  const isTaken = () => existsSync(place.file) && markIn(place.file) !== written;
  const taken = new Error("another program has written it, such as a server in another container");
  const requireUnchanged = () => {
    if (isTaken()) throw taken;
  };
  return {
    save(): void {
      const mark = base62From(nodePlatform.random, 12);
      const text = stateText({ startedWith: identityOf(own()), ...describeServer(log) }, mark);
      try {
        // Readable only by its owner: a scenario may pin keys.
        orUnwritable(place.given, () => writeFileAtomically(place.file, text, 0o600, requireUnchanged));
        failure = undefined;
      } catch (error) {
        failure = (error as Error).cause;
        throw error;
      }
      bytes = text.length;
      written = mark;
    },
    status() {
      const found = isTaken() ? taken : failure;
      return {
        ...{ in: "file" as const, reachable: true, losses: 0, bytes, isTaken: found === taken },
        problem: found === undefined ? undefined : `The state cannot be saved: ${fileFailure(found)}.`,
        isFull: isFullDisk(found),
      };
    },
  };
}

/** Backs up the state before a migration in a separate file, and returns the file's name. */
function backUp({ file, given }: StatePlace, text: string, version = ""): string {
  const copy = `.backup-${version}`;
  orUnwritable(given + copy, () => writeFileAtomically(file + copy, text, 0o600));
  return given + copy;
}

function readState({ file, given }: StatePlace): string | undefined {
  return orUnreadable(given, () => {
    const found = statSync(file, { throwIfNoEntry: false });
    // Reading a pipe would wait for a writer.
    if (found?.isFile() === false) throw new Error("it is not a regular file");
    return found && readFileSync(file, "utf8");
  });
}

// Reads only the start: this runs before each save.
function markIn(file: string): string {
  const descriptor = openSync(file, "r");
  try {
    const start = Buffer.alloc(256);
    return markOf(start.toString("latin1", 0, readSync(descriptor, start)));
  } finally {
    closeSync(descriptor);
  }
}

function orUnreadable<Result>(given: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw unreadableState(given, fileFailure(error));
  }
}

function orUnwritable(given: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    const whatToDo = isFullDisk(error)
      ? `Free disk space, for example by removing copies ${JSON.stringify(`${given}.backup-…`)} that you no longer need.`
      : "Check its folder and permissions.";
    const message = `Failed to write the state to ${JSON.stringify(given)}: ${fileFailure(error)}. The file keeps its last saved state. ${whatToDo}`;
    throw Object.assign(new SandboxError("state_unwritable", message), { cause: error });
  }
}

function isFullDisk(error: unknown): boolean {
  return /^(?:ENOSPC|EDQUOT)$/.test((error as NodeJS.ErrnoException | undefined)?.code ?? "");
}
