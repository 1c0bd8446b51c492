import { fileFailure, resolveLinks } from "../node/files/write-file.js";
import { nodePlatform, timers } from "../node/platform.js";
import { SandboxError } from "../rules/errors.js";
import type { SandboxState, Start } from "../sandbox/sandbox-state.js";
import { restoreSandbox } from "../sandbox/saved-sandbox.js";
import { startSandbox } from "../sandbox/start-sandbox.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
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

/** How a save ended: `skipped` before `begin` and after `close`. */
type SaveResult =
  | { readonly kind: "saved" }
  | { readonly kind: "skipped" }
  | { readonly kind: "failed"; readonly error: SandboxError };

/**
 * Knows when a sandbox is saved in its file, as a whole each time:
 * - `begin` writes a new file, or reserves request numbers in an existing one. Nothing is written before it.
 * - `save` writes after a change, at once.
 * - A timer writes after requests, when the pace allows it.
 * - The request that has used half of the reserved numbers writes, whatever the pace.
 * - `close` writes for the last time. Nothing is written after it.
 *
 * Who hears of a write that fails: `begin` of a new file, `save` and `close` throw it, because their callers wait for the file.
 * Nobody waits for the other saves. All but the first write of a new file report the first failure after a success. The file keeps
 * its last saved state, and a later save writes everything.
 */
export class StateFile {
  readonly sandbox: SandboxState;
  /** When the sandbox that continues was saved; `undefined` for a new one. */
  readonly savedAt: number | undefined;
  readonly #file: LockedFile;
  readonly #name: string;
  readonly #options: StateOptions;
  #phase: "opened" | "begun" | "closed" = "opened";
  /** Saves requests from time to time. */
  #timer: NodeJS.Timeout | undefined;
  readonly #pace = new SavePace(nodePlatform.stopwatch);
  /** The progress of the sandbox that the file has. */
  #savedProgress = "";
  /** Why the last save failed; `undefined` after a success. */
  #failure: unknown;

  constructor(file: LockedFile, name: string, opened: OpenedSandbox, options: StateOptions) {
    this.#file = file;
    this.#name = name;
    this.sandbox = opened.sandbox;
    this.savedAt = opened.savedAt;
    this.#options = options;
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
      // No request follows, so that no numbers are reserved.
      if (this.#phase === "begun") throwFailure(this.#tryToWrite(this.#latestNumber()));
    } finally {
      this.#phase = "closed";
      this.#file.unlock();
    }
  }

  /** Writes a file that did not exist. Throws `state_unwritable`. */
  #create(): void {
    this.#planSave();
    try {
      this.#file.makeFolder();
      this.#pace.run(() => this.#write(this.#latestNumber() + reservedNumbers));
    } catch (error) {
      throw unwritableState(this.#name, error);
    }
  }

  /** Saves everything, with reserved numbers for the requests until the next save. */
  #trySave(): SaveResult {
    if (this.#phase !== "begun") return { kind: "skipped" };
    this.#planSave();
    return this.#pace.run(() => this.#tryToWrite(this.#latestNumber() + reservedNumbers));
  }

  /** Plans a save for the request that will have used half of the numbers that are reserved now. */
  #planSave(): void {
    const half = this.#latestNumber() + reservedNumbers / 2;
    // In the next tick, the request is in the sandbox.
    this.sandbox.requestIds.planAt(half, () => timers.nextTick(() => this.#trySave()));
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

  /** Writes the file; keeps a failure, and reports the first one after a success. */
  #tryToWrite(lastReservedNumber: number): SaveResult {
    try {
      this.#write(lastReservedNumber);
      this.#failure = undefined;
      return { kind: "saved" };
    } catch (cause) {
      const isFirst = this.#failure === undefined;
      this.#failure = cause;
      const error = unwritableState(this.#name, cause, "The file keeps its last saved state. ");
      if (isFirst) this.#options.onProblem(error);
      return { kind: "failed", error };
    }
  }

  /** Writes the file, or throws. No later start uses a request number up to the last reserved one. */
  #write(lastReservedNumber: number): void {
    const startedWith = this.#options.startedScenario();
    this.#file.replace(stateParts(this.sandbox, startedWith, lastReservedNumber));
    this.#savedProgress = this.#progress();
  }
}

function throwFailure(result: SaveResult): void {
  if (result.kind === "failed") throw result.error;
}

/** The error of a state that cannot be written. `kept`: a sentence about the file that stays. */
function unwritableState(name: string, error: unknown, kept = ""): SandboxError {
  const isFull = /^(?:ENOSPC|EDQUOT)$/.test((error as NodeJS.ErrnoException).code ?? "");
  const fix = isFull ? "Free disk space." : "Check its folder and permissions.";
  const message = `Failed to write the state to ${quoteFile(name)}: ${fileFailure(error)}. ${kept}${fix}`;
  return new SandboxError("state_unwritable", message);
}
