import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { lock } from "../node/files/lock.js";
import { fileFailure, makeFolder, replaceFile, resolveLinks } from "../node/files/write-file.js";
import { nodePlatform, timers } from "../node/platform.js";
import { SandboxError } from "../rules/errors.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { restoreSandbox } from "../sandbox/saved-sandbox.js";
import { type Start, startSandbox } from "../sandbox/start-sandbox.js";
import type { NamedScenario } from "../scenario/scenario-source.js";
import { quoteFile } from "../schema/words.js";
import { damagedState, parseState, stateParts, unreadableState } from "./state-text.js";

/** Milliseconds between two saves by the timer, or more if they take long. */
const saveIntervalMs = 500;

export interface StateOptions {
  /** The scenario that the server was started with, without its options: a state of another one is rejected. */
  readonly startedScenario: () => NamedScenario;
  /** Called with the first failure after a success. */
  readonly onProblem: (error: unknown) => void;
}

/** The sandbox to keep in a file. */
interface OpenedSandbox {
  readonly sandbox: SandboxState;
  /** When the file was saved (epoch milliseconds, wall clock); `undefined` if there was no file. */
  readonly savedAt: number | undefined;
}

/**
 * Continues the sandbox of a file, or starts a new one that `startSaving` writes there for the first time. `name`: that of the file
 * for messages.
 *
 * Throws `state_unreadable`, `state_mismatch` for another scenario's state, or `state_in_use` if another process uses the file.
 * An error leaves the file unchanged.
 */
export async function openStateFile(
  file: string,
  name: string,
  start: Start,
  options: StateOptions,
): Promise<StateFile> {
  const resolved = readOrThrow(name, () => resolveLinks(file));
  const locked = await lockFile(resolved);
  if (locked === undefined) {
    const message = `The state ${quoteFile(name)} is in use by another process. Stop that process, or name another file with --state.`;
    throw new SandboxError("state_in_use", message);
  }

  try {
    const opened = continueOrStart(locked, name, start, options.startedScenario());
    return new StateFile(locked, name, opened, options);
  } catch (error) {
    locked.unlock();
    throw error;
  }
}

/** The sandbox of a file, or a new one if there is no file. */
function continueOrStart(
  file: LockedFile,
  name: string,
  start: Start,
  startedWith: NamedScenario,
): OpenedSandbox {
  const text = readOrThrow(name, () => file.read());
  if (text === undefined) return { sandbox: startSandbox(start), savedAt: undefined };

  const saved = parseState(text, startedWith, name);
  const sandbox = readOrThrow(name, () => restoreSandbox(saved, start), damagedState);
  return { sandbox, savedAt: saved.at };
}

/** Throws `state_unreadable` for an error of the file system or of the content. */
function readOrThrow<Result>(name: string, read: () => Result, failure = unreadableState): Result {
  try {
    return read();
  } catch (error) {
    throw failure(name, fileFailure(error));
  }
}

/**
 * Saves a sandbox in its file, as a whole each time:
 * - `startSaving` writes the file for the first time. Nothing is written before it.
 * - `save` saves a change that a client waits for, and throws if that fails.
 * - `#saveInBackground` saves some time after requests, and when a scenario starts. Nobody waits for it, so that it does not throw.
 * - `close` saves for the last time. Nothing is written after it.
 *
 * A save that fails is reported, if the one before it did not fail. The file keeps its last saved state, and a later save writes
 * everything.
 *
 * No request id is given out twice, also after a kill, which loses the latest requests: each start continues with a new series of
 * ids, and so does each start of a scenario. The file must have the latest series before its first id is given out.
 */
export class StateFile {
  readonly sandbox: SandboxState;
  /** When the sandbox that continues was saved; `undefined` for a new one. */
  readonly savedAt: number | undefined;
  readonly #file: LockedFile;
  readonly #name: string;
  readonly #options: StateOptions;
  #phase: "opened" | "saving" | "closed" = "opened";
  /** Saves requests from time to time. */
  #timer: NodeJS.Timeout | undefined;
  /** From when the timer may save again (milliseconds of the stopwatch). */
  #nextTimedSaveAt = 0;
  /** The progress of the sandbox that the file has. */
  #savedProgress = "";
  /** Whether the last save failed. */
  #hasFailed = false;

  constructor(file: LockedFile, name: string, opened: OpenedSandbox, options: StateOptions) {
    this.#file = file;
    this.#name = name;
    this.sandbox = opened.sandbox;
    this.savedAt = opened.savedAt;
    this.#options = options;
  }

  /** Starts to save. Throws `state_unwritable` if a new file cannot be written; `close` saves nothing then. */
  startSaving(): void {
    const isNew = this.savedAt === undefined;
    if (isNew) this.#createFile();
    this.#phase = "saving";
    this.#startTimer();

    // A new series of request ids begins with each start of a scenario, and has begun with this start.
    this.sandbox.journal.subscribe((event) => {
      if (event.type === "sandbox.started") this.#saveInBackground();
    });
    if (!isNew) this.#saveInBackground();
  }

  /** Writes the file for the first time. A failure is not reported, because the caller gets it, and starts no server. */
  #createFile(): void {
    try {
      this.#file.makeFolder();
      this.#write();
    } catch (error) {
      throw unwritableState(this.#name, error);
    }
  }

  #startTimer(): void {
    this.#timer = timers.setInterval(() => {
      const hasUnsaved = this.#progress() !== this.#savedProgress;
      const isDue = nodePlatform.stopwatch() >= this.#nextTimedSaveAt;
      if (hasUnsaved && isDue) this.#saveInBackground();
    }, saveIntervalMs);
    this.#timer.unref();
  }

  /** Saves everything, once saving has started. Throws `state_unwritable`, and reports it if the last save did not fail. */
  save(): void {
    if (this.#phase !== "saving") return;
    try {
      this.#write();
    } catch (cause) {
      const error = unwritableState(this.#name, cause, "The file keeps its last saved state. ");
      this.#reportFirst(error);
      throw error;
    }
    this.#hasFailed = false;
  }

  /** Reports a failure, unless the save before it failed, too. */
  #reportFirst(error: SandboxError): void {
    const isFirst = !this.#hasFailed;
    this.#hasFailed = true;
    if (isFirst) this.#options.onProblem(error);
  }

  /** Whether the last save failed. */
  isUnwritable(): boolean {
    return this.#hasFailed;
  }

  /** Saves for the last time. Throws `state_unwritable`. Does nothing if it is closed already. */
  close(): void {
    if (this.#phase === "closed") return;
    timers.clearInterval(this.#timer);
    try {
      this.save();
    } finally {
      this.#phase = "closed";
      this.#file.unlock();
    }
  }

  #saveInBackground(): void {
    try {
      this.save();
    } catch {
      // The failure is reported, and a later save writes everything.
    }
  }

  /** What has happened in the sandbox until now, as a text to compare. */
  #progress(): string {
    const { journal, counters } = this.sandbox;
    return `${journal.latestNumber()} ${counters.unread()}`;
  }

  /** Writes the file. Throws an error of the file system. */
  #write(): void {
    const startedAt = nodePlatform.stopwatch();
    try {
      this.#file.replace(stateParts(this.sandbox, this.#options.startedScenario()));
      this.#savedProgress = this.#progress();
    } finally {
      // A save stops all requests, so that the timer pauses for ten times as long.
      const endedAt = nodePlatform.stopwatch();
      this.#nextTimedSaveAt = endedAt + 10 * (endedAt - startedAt);
    }
  }
}

/** The error of a state that cannot be written. `kept`: a sentence about the file that stays. */
function unwritableState(name: string, error: unknown, kept = ""): SandboxError {
  const isFull = /^(?:ENOSPC|EDQUOT)$/.test((error as NodeJS.ErrnoException).code ?? "");
  const fix = isFull ? "Free disk space." : "Check its folder and permissions.";
  const message = `Failed to write the state to ${quoteFile(name)}: ${fileFailure(error)}. ${kept}${fix}`;
  return new SandboxError("state_unwritable", message);
}

// No other user may read the file, or the folder that is made for it.
const folderMode = 0o700;
const fileMode = 0o600;

/** Locks a file for this process; resolves to `undefined` if another process has the lock. `file`: without links, as all names of a file share one lock. */
export async function lockFile(file: string): Promise<LockedFile | undefined> {
  const unlock = await lock(file);
  return unlock === undefined ? undefined : new LockedFile(file, unlock);
}

/**
 * A file that only this process writes. The lock keeps other processes of this machine away. A server in another container does not
 * see the lock: what it writes is noticed by a stamp of the file, and never replaced.
 */
export class LockedFile {
  readonly #file: string;
  readonly #unlock: () => void;
  /** The stamp of the file as it was last read or written here; `undefined` if there was none. */
  #stamp: string | undefined;

  constructor(file: string, unlock: () => void) {
    this.#file = file;
    this.#unlock = unlock;
  }

  /** The text of the file; `undefined` if there is none yet. Throws an error of the file system. */
  read(): string | undefined {
    this.#stamp = this.#currentStamp();
    const stats = statSync(this.#file, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    // Reading a pipe would wait for a writer.
    if (!stats.isFile()) throw new Error("it is not a regular file");
    return readFileSync(this.#file, "utf8");
  }

  /** Makes the folder of the file. */
  makeFolder(): void {
    makeFolder(dirname(this.#file), folderMode);
  }

  /** Replaces the file as a whole, or writes a new one. Throws if that fails, and if another program has written the file. */
  replace(parts: Iterable<string>): void {
    replaceFile(this.#file, parts, fileMode, () => {
      const stamp = this.#currentStamp();
      // A file that is gone is written again.
      if (stamp === undefined || stamp === this.#stamp) return;
      throw new Error("another program has written it, such as a server in another container");
    });
    this.#stamp = this.#currentStamp();
  }

  unlock(): void {
    this.#unlock();
  }

  /** A text that differs if another program has written the file; `undefined` if there is none. */
  #currentStamp(): string | undefined {
    const stats = statSync(this.#file, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    return `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
  }
}
