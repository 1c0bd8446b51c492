import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { lock } from "../node/files/lock.js";
import { fileFailure, makeFolder, replaceFile, targetOf } from "../node/files/write-file.js";
import { nodePlatform, timers } from "../node/platform.js";
import { SandboxError } from "../rules/errors.js";
import { quoteFile } from "../rules/schema/words.js";
import type { ConditionedRun, SandboxState, StartOptions } from "../sandbox/sandbox-state.js";
import { restoreSandbox } from "../sandbox/snapshot.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { damagedState, parseState, stateText, unreadableState } from "./state-text.js";

/** Request numbers that are left for the time until the next save: no start uses them again after a kill. */
const reserve = 100_000;
/** Milliseconds between two saves of requests, or more if they take long. */
const saveIntervalMs = 500;

/** When requests are saved again: a save stops them all, so that it may take a tenth of the time. */
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

  /** Runs a save of any kind. */
  run(save: () => void): void {
    const startedAt = this.#stopwatch();
    try {
      save();
    } finally {
      const endedAt = this.#stopwatch();
      this.#dueAt = endedAt + 10 * (endedAt - startedAt);
    }
  }
}

/** The file of a sandbox: its absolute path, and its name for messages. */
interface StateFileName {
  readonly file: string;
  readonly name: string;
}

export interface StateOptions {
  /** The scenario that the server serves. */
  readonly startedScenario: () => NamedScenario;
  readonly start: () => SandboxState;
  /** The options of scenarios that start later; the saved sandbox has its own. */
  readonly startOptions: StartOptions;
  readonly run?: ConditionedRun | undefined;
  /** Called with the first failure after a success. */
  readonly onProblem: (error: unknown) => void;
}

/**
 * Continues the sandbox of a file, or starts one that `begin` starts to keep there.
 *
 * Throws `state_unreadable`, `state_mismatch` for another scenario's state, or `state_in_use` if another process uses the file.
 * An error leaves the file unchanged.
 */
export async function openStateFile(
  { file, name }: StateFileName,
  options: StateOptions,
): Promise<StateFile> {
  // All names of a file share one lock.
  const target = orUnreadable(name, () => targetOf(file));
  const unlock = await lock(target);
  if (unlock === undefined) {
    const message = `The state ${quoteFile(name)} is in use by another process. Stop that process, or name another file with --state.`;
    throw new SandboxError("state_in_use", message);
  }
  try {
    const fileName = { file: target, name };
    const stamp = stampOf(target);
    const text = readText(target, name);
    if (text === undefined) {
      const sandbox = options.start();
      return new StateFile(fileName, options, { sandbox, savedAt: undefined, stamp, unlock });
    }

    const saved = parseState(text, options.startedScenario(), name);
    const { startOptions, run } = options;
    const restore = () => restoreSandbox(saved, nodePlatform, { startOptions, run });
    const sandbox = orUnreadable(name, restore, damagedState);
    return new StateFile(fileName, options, { sandbox, savedAt: saved.at, stamp, unlock });
  } catch (error) {
    unlock();
    throw error;
  }
}

/** A sandbox to keep in a file that is locked. */
interface OpenedState {
  readonly sandbox: SandboxState;
  /** When the state was saved (epoch milliseconds, wall clock); `undefined` for a new state. */
  readonly savedAt: number | undefined;
  readonly stamp: string | undefined;
  readonly unlock: () => void;
}

/** Keeps a sandbox in a file, from `begin` to `close`. */
export class StateFile {
  readonly sandbox: SandboxState;
  readonly savedAt: number | undefined;
  readonly #fileName: StateFileName;
  readonly #options: StateOptions;
  readonly #unlock: () => void;
  /** What the file system showed after the last write: another program may change the file, such as in another container. */
  #stamp: string | undefined;
  /** What of the sandbox the file has. */
  #savedPosition = "";
  /** Why the last save failed; `undefined` after a success. */
  #failure: unknown;
  /** Saves from time to time, from `begin` to `close`. */
  #saving: NodeJS.Timeout | undefined;
  readonly #pace = new SavePace(nodePlatform.stopwatch);

  constructor(fileName: StateFileName, options: StateOptions, opened: OpenedState) {
    this.#fileName = fileName;
    this.#options = options;
    this.sandbox = opened.sandbox;
    this.savedAt = opened.savedAt;
    this.#stamp = opened.stamp;
    this.#unlock = opened.unlock;
  }

  /** Starts to save. Throws `state_unwritable` if there was no file. */
  begin(): void {
    const isNew = this.savedAt === undefined;
    // One that cannot be written does not start, and is not tried again at its end.
    if (isNew) this.#makeFile();

    this.#saving = timers.setInterval(() => {
      const hasMore = this.#position() !== this.#savedPosition;
      if (hasMore && this.#pace.isDue()) this.#tryToSave();
    }, saveIntervalMs);
    this.#saving.unref();

    // The next start must not use the request ids of this one.
    this.sandbox.journal.subscribe((event) => {
      if (event.type === "sandbox.started") this.save();
    });
    if (!isNew) this.#tryToSave();
  }

  /** Writes everything. Throws `state_unwritable`; the next save writes it then. */
  save(): void {
    if (this.#saving !== undefined) this.#pace.run(() => this.#write(this.#reserved()));
  }

  /** Why the state cannot be saved, as a sentence; `undefined` if it can. */
  problem(): string | undefined {
    if (this.#failure === undefined) return undefined;
    return `The state cannot be saved: ${fileFailure(this.#failure)}.`;
  }

  /** Writes the rest, and nothing after that. Throws `state_unwritable`. */
  close(): void {
    timers.clearInterval(this.#saving);
    try {
      if (this.#saving !== undefined) this.#write(this.sandbox.requestIds.responded());
    } finally {
      this.#saving = undefined;
      this.#unlock();
    }
  }

  #makeFile(): void {
    try {
      makeFolder(dirname(this.#fileName.file), 0o700);
      this.#pace.run(() => this.#writeNow(this.#reserved()));
    } catch (error) {
      throw unwritableState(this.#fileName.name, error);
    }
  }

  /** Returns the last number that no later start uses. More are saved when half of the reserve is used, whatever the pace. */
  #reserved(): number {
    const { requestIds } = this.sandbox;
    const responded = requestIds.responded();
    // After the request that has the number.
    requestIds.atRequest(responded + reserve / 2, () => timers.nextTick(() => this.#tryToSave()));
    return responded + reserve;
  }

  /** What has happened in the sandbox until now. */
  #position(): string {
    const { journal, counters } = this.sandbox;
    return `${journal.latest()} ${counters.unread()}`;
  }

  #tryToSave(): void {
    try {
      this.save();
    } catch {
      // Its first failure is reported, and the timer tries it again.
    }
  }

  #write(responded: number): void {
    try {
      this.#writeNow(responded);
    } catch (error) {
      const isFirst = this.#failure === undefined;
      this.#failure = error;
      const unwritable = unwritableState(this.#fileName.name, error, "The file keeps its last saved state. ");
      if (isFirst) this.#options.onProblem(unwritable);
      throw unwritable;
    }
  }

  #writeNow(responded: number): void {
    const { file } = this.#fileName;
    const position = this.#position();
    const text = stateText(this.sandbox, this.#options.startedScenario(), responded);
    replaceFile(file, text, 0o600, () => {
      const stamp = stampOf(file);
      if (stamp !== undefined && stamp !== this.#stamp) throw takenOver;
    });

    this.#stamp = stampOf(file);
    this.#savedPosition = position;
    this.#failure = undefined;
  }
}

const takenOver = new Error("another program has written it, such as a server in another container");

/** What differs if another program writes the file. */
function stampOf(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  return `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
}

/** The text of a state file; `undefined` if there is none yet. */
function readText(file: string, name: string): string | undefined {
  return orUnreadable(name, () => {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    // Reading a pipe would wait for a writer.
    if (!stats.isFile()) throw new Error("it is not a regular file");
    return readFileSync(file, "utf8");
  });
}

/** Throws `state_unreadable` for an error of the file system or of the content. */
function orUnreadable<Result>(name: string, read: () => Result, failure = unreadableState): Result {
  try {
    return read();
  } catch (error) {
    throw failure(name, fileFailure(error));
  }
}

function unwritableState(name: string, error: unknown, kept = ""): SandboxError {
  const isFull = /^(?:ENOSPC|EDQUOT)$/.test((error as NodeJS.ErrnoException).code ?? "");
  const fix = isFull ? "Free disk space." : "Check its folder and permissions.";
  const message = `Failed to write the state to ${quoteFile(name)}: ${fileFailure(error)}. ${kept}${fix}`;
  return new SandboxError("state_unwritable", message);
}
