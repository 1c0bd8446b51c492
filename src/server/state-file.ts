import { fileFailure, resolveLinks } from "../node/files/write-file.js";
import { nodePlatform, timers } from "../node/platform.js";
import { SandboxError } from "../rules/errors.js";
import type { SandboxState, Start } from "../sandbox/sandbox-state.js";
import { restoreSandbox } from "../sandbox/saved-sandbox.js";
import { startSandbox } from "../sandbox/start-sandbox.js";
import type { NamedScenario } from "../scenario/scenario-source.js";
import { quoteFile } from "../schema/words.js";
import { type LockedFile, lockFile } from "./locked-file.js";
import { SavePace } from "./save-pace.js";
import { damagedState, parseState, stateParts, unreadableState } from "./state-text.js";

/**
 * How many request numbers a save marks as used in advance. After a kill, the next start continues behind them, so that it gives
 * no request id again that a client has got since the last save.
 */
const reservedNumbers = 100_000;

/** Milliseconds between two saves of requests, or more if they take long. */
const saveIntervalMs = 500;

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

/** The sandbox to keep in a file. */
interface OpenedSandbox {
  readonly sandbox: SandboxState;
  /** When the file was saved (epoch milliseconds, wall clock); `undefined` if there was no file. */
  readonly savedAt: number | undefined;
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
 * Knows when a sandbox is saved in its file, as a whole each time:
 * - `begin` writes a new file, or saves in an existing one. Nothing is written before it.
 * - `save` saves a change that somebody has asked for, and throws if that fails.
 * - The sandbox is also saved unasked: some time after requests, when a scenario starts, and when half of the reserved request
 *   numbers are used. Nobody waits for such a save, so that it does not throw.
 * - `close` saves for the last time. Nothing is written after it.
 *
 * A save that fails is reported, if the one before it did not fail. The file keeps its last saved state, and a later save writes
 * everything.
 */
export class StateFile {
  readonly sandbox: SandboxState;
  /** When the sandbox that continues was saved; `undefined` for a new one. */
  readonly savedAt: number | undefined;
  readonly #file: LockedFile;
  readonly #name: string;
  readonly #options: StateOptions;
  /** Whether the sandbox is saved: from `begin` to `close`. */
  #isSaving = false;
  /** Saves requests from time to time. */
  #timer: NodeJS.Timeout | undefined;
  readonly #pace = new SavePace(nodePlatform.stopwatch);
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

  /** Starts to save. Throws `state_unwritable` if a new file cannot be written; `close` does not try that again. */
  begin(): void {
    const isNew = this.savedAt === undefined;
    if (isNew) this.#create();
    this.#isSaving = true;

    this.#timer = timers.setInterval(() => {
      const hasMore = this.#progress() !== this.#savedProgress;
      if (hasMore && this.#pace.isDue()) this.#saveUnasked();
    }, saveIntervalMs);
    this.#timer.unref();

    // A scenario that starts has request ids of its own, which the file must reserve.
    this.sandbox.journal.subscribe((event) => {
      if (event.type === "sandbox.started") this.#saveUnasked();
    });

    if (isNew) this.#planSave();
    // The next start of this program must not use the request ids of this one.
    else this.#saveUnasked();
  }

  /** Saves everything, with reserved numbers for the requests until the next save. Throws `state_unwritable`. */
  save(): void {
    if (!this.#isSaving) return;
    this.#planSave();
    this.#pace.run(() => this.#write(this.#latestNumber() + reservedNumbers));
  }

  /** Whether the last save failed. */
  isUnwritable(): boolean {
    return this.#hasFailed;
  }

  /** Saves for the last time. Throws `state_unwritable`. */
  close(): void {
    timers.clearInterval(this.#timer);
    try {
      // No request follows, so that no numbers are reserved.
      if (this.#isSaving) this.#write(this.#latestNumber());
    } finally {
      this.#isSaving = false;
      this.#file.unlock();
    }
  }

  #saveUnasked(): void {
    try {
      this.save();
    } catch {
      // The failure is reported, and a later save writes everything.
    }
  }

  /** Plans a save for the request that will have used half of the numbers that are reserved now. */
  #planSave(): void {
    const half = this.#latestNumber() + reservedNumbers / 2;
    // In the next tick, the request is in the sandbox.
    this.sandbox.requestIds.planAt(half, () => timers.nextTick(() => this.#saveUnasked()));
  }

  /** The number of the latest request. */
  #latestNumber(): number {
    return this.sandbox.requestIds.latestNumber();
  }

  /** What has happened in the sandbox until now, as a text to compare. */
  #progress(): string {
    const { journal, counters } = this.sandbox;
    return `${journal.latest()} ${counters.unread()}`;
  }

  /** Writes a file that did not exist. Throws `state_unwritable`, which is not reported: the caller cannot start. */
  #create(): void {
    try {
      this.#file.makeFolder();
      this.#pace.run(() => this.#replaceFile(this.#latestNumber() + reservedNumbers));
    } catch (error) {
      throw unwritableState(this.#name, error);
    }
  }

  /** Writes the file. Throws `state_unwritable`, and reports it if the last save did not fail. */
  #write(lastReservedNumber: number): void {
    const hadFailed = this.#hasFailed;
    try {
      this.#replaceFile(lastReservedNumber);
      this.#hasFailed = false;
    } catch (cause) {
      this.#hasFailed = true;
      const error = unwritableState(this.#name, cause, "The file keeps its last saved state. ");
      if (!hadFailed) this.#options.onProblem(error);
      throw error;
    }
  }

  /** Replaces the file. No later start uses a request number up to the last reserved one. Throws an error of the file system. */
  #replaceFile(lastReservedNumber: number): void {
    const startedWith = this.#options.startedScenario();
    this.#file.replace(stateParts(this.sandbox, startedWith, lastReservedNumber));
    this.#savedProgress = this.#progress();
  }
}

/** The error of a state that cannot be written. `kept`: a sentence about the file that stays. */
function unwritableState(name: string, error: unknown, kept = ""): SandboxError {
  const isFull = /^(?:ENOSPC|EDQUOT)$/.test((error as NodeJS.ErrnoException).code ?? "");
  const fix = isFull ? "Free disk space." : "Check its folder and permissions.";
  const message = `Failed to write the state to ${quoteFile(name)}: ${fileFailure(error)}. ${kept}${fix}`;
  return new SandboxError("state_unwritable", message);
}
