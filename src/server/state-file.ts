import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { lock } from "../node/files/lock.js";
import { fileFailure, makeFolder, replaceFile, resolveLinks } from "../node/files/write-file.js";
import { nodePlatform, timers } from "../node/platform.js";
import { SandboxError } from "../rules/errors.js";
import type { SandboxState, Start } from "../sandbox/sandbox-state.js";
import { restoreSandbox } from "../sandbox/saved-sandbox.js";
import { startSandbox } from "../sandbox/start-sandbox.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { quoteFile } from "../schema/words.js";
import { damagedState, parseState, stateParts, unreadableState } from "./state-text.js";

/**
 * How many request numbers a save marks as used in advance. After a kill, the next start continues behind them, so that it gives
 * no request id again that a client has got since the last save.
 */
const reservedNumbers = 100_000;

/** Milliseconds between two saves of requests, or more if they take long. */
const saveIntervalMs = 500;

// No other user may read the file, or the folder that is made for it.
const folderMode = 0o700;
const fileMode = 0o600;

/** Why a file stays that is not as this program has read or written it. */
const writtenByAnother = new Error("another program has written it, such as a server in another container");

/** The file of a sandbox: its absolute path, and its name for messages. */
interface NamedFile {
  readonly file: string;
  readonly name: string;
}

export interface StateOptions {
  /** The scenario that the server was started with, without its options: a state of another one is rejected. */
  readonly startedScenario: () => NamedScenario;
  /** Called with the first failure after a success. */
  readonly onProblem: (error: unknown) => void;
}

/** A sandbox to keep in a file. */
interface OpenedState {
  readonly sandbox: SandboxState;
  /** When the state was saved (epoch milliseconds, wall clock); `undefined` for a new state. */
  readonly savedAt: number | undefined;
  /** The file as it was read. */
  readonly stamp: string | undefined;
}

/**
 * Continues the sandbox of a file, or starts a new one that `begin` starts to keep there.
 *
 * Throws `state_unreadable`, `state_mismatch` for another scenario's state, or `state_in_use` if another process uses the file.
 * An error leaves the file unchanged.
 */
export async function openStateFile(
  { file, name }: NamedFile,
  start: Start,
  options: StateOptions,
): Promise<StateFile> {
  // All names of a file share one lock.
  const target = readOrThrow(name, () => resolveLinks(file));
  const unlock = await lock(target);
  if (unlock === undefined) {
    const message = `The state ${quoteFile(name)} is in use by another process. Stop that process, or name another file with --state.`;
    throw new SandboxError("state_in_use", message);
  }

  try {
    const lockedFile = { file: target, name };
    const opened = continueOrStart(lockedFile, start, options.startedScenario());
    return new StateFile(lockedFile, options, opened, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

/** The sandbox of a file, or a new one if there is no file. */
function continueOrStart({ file, name }: NamedFile, start: Start, startedWith: NamedScenario): OpenedState {
  const stamp = stampOf(file);
  const text = readStateText(file, name);
  if (text === undefined) return { sandbox: startSandbox(start), savedAt: undefined, stamp };

  const saved = parseState(text, startedWith, name);
  const sandbox = readOrThrow(name, () => restoreSandbox(saved, start), damagedState);
  return { sandbox, savedAt: saved.at, stamp };
}

/** The text of a state file; `undefined` if there is none yet. */
function readStateText(file: string, name: string): string | undefined {
  return readOrThrow(name, () => {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    // Reading a pipe would wait for a writer.
    if (!stats.isFile()) throw new Error("it is not a regular file");
    return readFileSync(file, "utf8");
  });
}

/** Throws `state_unreadable` for an error of the file system or of the content. */
function readOrThrow<Result>(name: string, read: () => Result, failure = unreadableState): Result {
  try {
    return read();
  } catch (error) {
    throw failure(name, fileFailure(error));
  }
}

/** When requests are saved again: a save stops them all, so the next one waits ten times as long as it took. */
export class SavePace {
  readonly #stopwatch: () => number;
  #dueAt = 0;

  /** `stopwatch`: milliseconds that only grow. */
  constructor(stopwatch: () => number) {
    this.#stopwatch = stopwatch;
  }

  isDue(): boolean {
    return this.#stopwatch() >= this.#dueAt;
  }

  /** Runs a save of any kind, and plans the next save of requests by the time that this one takes. */
  run<Result>(save: () => Result): Result {
    const startedAt = this.#stopwatch();
    try {
      return save();
    } finally {
      const endedAt = this.#stopwatch();
      this.#dueAt = endedAt + 10 * (endedAt - startedAt);
    }
  }
}

/** How a save ended: `skipped` before `begin` and after `close`. */
type SaveResult =
  | { readonly kind: "saved" }
  | { readonly kind: "skipped" }
  | { readonly kind: "failed"; readonly error: SandboxError };

/**
 * Keeps a sandbox in a file that is locked. Nothing is written before `begin` and after `close`. Between them, each save
 * replaces the whole file: `save` after a change, at once; a timer after requests, when the pace allows it; a plan for the
 * request that has used half of the reserved numbers. A save that fails leaves the last saved file, and a later one writes
 * everything.
 *
 * Who hears of a write that fails: `begin`, `save` and `close` throw it, because their callers wait for the file. Nobody waits
 * for the other saves, which only return it. All but the first write of a new file report the first failure after a success.
 */
export class StateFile {
  readonly sandbox: SandboxState;
  readonly savedAt: number | undefined;
  readonly #file: NamedFile;
  readonly #options: StateOptions;
  readonly #unlock: () => void;
  #phase: "opened" | "begun" | "closed" = "opened";
  /** Saves requests from time to time. */
  #timer: NodeJS.Timeout | undefined;
  readonly #pace = new SavePace(nodePlatform.stopwatch);
  /** What of the sandbox the file has. */
  #savedProgress = "";
  /** The file after the last write: another program may write it since, such as a server in another container. */
  #stamp: string | undefined;
  /** Why the last save failed; `undefined` after a success. */
  #failure: unknown;

  constructor(file: NamedFile, options: StateOptions, opened: OpenedState, unlock: () => void) {
    this.#file = file;
    this.#options = options;
    this.sandbox = opened.sandbox;
    this.savedAt = opened.savedAt;
    this.#stamp = opened.stamp;
    this.#unlock = unlock;
  }

  /** Starts to save. Throws `state_unwritable` if a new file cannot be written. */
  begin(): void {
    const isNew = this.savedAt === undefined;
    // Before the state is begun, so that `close` does not try again to write a file that cannot be written.
    if (isNew) this.#create();
    this.#phase = "begun";

    this.#timer = timers.setInterval(() => {
      const hasMore = this.#progress() !== this.#savedProgress;
      if (hasMore && this.#pace.isDue()) this.#trySave();
    }, saveIntervalMs);
    this.#timer.unref();

    // A scenario that starts has request ids of its own, which the file must reserve.
    this.sandbox.journal.subscribe((event) => {
      if (event.type === "sandbox.started") this.save();
    });

    // The next start of this program must not use the request ids of this one.
    if (!isNew) this.#trySave();
  }

  /** Saves a change. Throws `state_unwritable`; the next save writes the change then. */
  save(): void {
    throwFailure(this.#trySave());
  }

  /** Whether the last save failed. */
  isUnwritable(): boolean {
    return this.#failure !== undefined;
  }

  /** Saves for the last time. Throws `state_unwritable`. */
  close(): void {
    timers.clearInterval(this.#timer);
    try {
      if (this.#phase === "begun") {
        // No request follows, so that no numbers are reserved.
        throwFailure(this.#tryToWrite(this.sandbox.requestIds.latestNumber()));
      }
    } finally {
      this.#phase = "closed";
      this.#unlock();
    }
  }

  /** Writes a file that did not exist. Throws `state_unwritable`. */
  #create(): void {
    try {
      makeFolder(dirname(this.#file.file), folderMode);
      this.#pace.run(() => this.#write(this.#reserveNumbers()));
    } catch (error) {
      throw unwritableState(this.#file.name, error);
    }
  }

  /** Saves everything, with reserved numbers for the requests until the next save. */
  #trySave(): SaveResult {
    if (this.#phase !== "begun") return { kind: "skipped" };
    return this.#pace.run(() => this.#tryToWrite(this.#reserveNumbers()));
  }

  /** Returns the last request number to mark as used. Plans a save for the request that has used half of the reserved ones, whatever the pace. */
  #reserveNumbers(): number {
    const { requestIds } = this.sandbox;
    const responded = requestIds.latestNumber();
    // In the next tick, the request is in the sandbox.
    requestIds.planAt(responded + reservedNumbers / 2, () => timers.nextTick(() => this.#trySave()));
    return responded + reservedNumbers;
  }

  /** What has happened in the sandbox until now, as a text to compare. */
  #progress(): string {
    const { journal, counters } = this.sandbox;
    return `${journal.latest()} ${counters.unread()}`;
  }

  /** Writes the file again; keeps a failure, and reports the first one after a success. */
  #tryToWrite(lastNumber: number): SaveResult {
    try {
      this.#write(lastNumber);
      this.#failure = undefined;
      return { kind: "saved" };
    } catch (cause) {
      const isFirst = this.#failure === undefined;
      this.#failure = cause;
      const error = unwritableState(this.#file.name, cause, "The file keeps its last saved state. ");
      if (isFirst) this.#options.onProblem(error);
      return { kind: "failed", error };
    }
  }

  /** Replaces the file; throws if that fails, or if another program has written it. `lastNumber`: the last request number that no later start uses. */
  #write(lastNumber: number): void {
    const { file } = this.#file;
    const progress = this.#progress();
    const parts = stateParts(this.sandbox, this.#options.startedScenario(), lastNumber);
    replaceFile(file, parts, fileMode, () => {
      const stamp = stampOf(file);
      if (stamp !== undefined && stamp !== this.#stamp) throw writtenByAnother;
    });

    this.#stamp = stampOf(file);
    this.#savedProgress = progress;
  }
}

function throwFailure(result: SaveResult): void {
  if (result.kind === "failed") throw result.error;
}

/** A text that differs if another program writes the file; `undefined` if there is none. */
function stampOf(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  return `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
}

/** The error of a state that cannot be written. `kept`: a sentence about the file that stays. */
function unwritableState(name: string, error: unknown, kept = ""): SandboxError {
  const isFull = /^(?:ENOSPC|EDQUOT)$/.test((error as NodeJS.ErrnoException).code ?? "");
  const fix = isFull ? "Free disk space." : "Check its folder and permissions.";
  const message = `Failed to write the state to ${quoteFile(name)}: ${fileFailure(error)}. ${kept}${fix}`;
  return new SandboxError("state_unwritable", message);
}
