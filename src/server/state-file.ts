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
    const stamp = stampOf(target);
    const text = readText(target, name);
    const saved = text === undefined ? undefined : parseState(text, options.startedScenario(), name);
    const { run } = options;
    const restore = () =>
      saved && restoreSandbox(saved, nodePlatform, { startOptions: options.startOptions, run });
    const sandbox = orUnreadable(name, restore, damagedState) ?? options.start();
    return new StateFile({ file: target, name }, options, { sandbox, savedAt: saved?.at, stamp, unlock });
  } catch (error) {
    unlock();
    throw error;
  }
}

interface OpenedState {
  readonly sandbox: SandboxState;
  /** When the state was saved (epoch milliseconds, wall clock); `undefined` for a new state. */
  readonly savedAt: number | undefined;
  readonly stamp: string | undefined;
  readonly unlock: () => void;
}

export class StateFile {
  readonly sandbox: SandboxState;
  readonly savedAt: number | undefined;
  readonly #place: StateFileName;
  readonly #options: StateOptions;
  readonly #unlock: () => void;
  /** What the file system showed after the last write: another program may change the file, such as in another container. */
  #stamp: string | undefined;
  #position = "";
  #failure: unknown;
  #saving: NodeJS.Timeout | undefined;
  readonly #pace = new SavePace(nodePlatform.stopwatch);

  constructor(place: StateFileName, options: StateOptions, { sandbox, savedAt, stamp, unlock }: OpenedState) {
    [this.sandbox, this.savedAt, this.#stamp, this.#unlock] = [sandbox, savedAt, stamp, unlock];
    [this.#place, this.#options] = [place, options];
  }

  /** Starts to save. Throws `state_unwritable` if there was no file. */
  begin(): void {
    const isNew = this.savedAt === undefined;
    // One that cannot be written does not start, and is not tried again at its end.
    if (isNew) this.#makeFile();
    this.#saving = timers.setInterval(() => {
      if (this.#pace.isDue() && this.#positionNow() !== this.#position) this.#tryToSave();
    }, saveIntervalMs);
    this.#saving.unref();
    // The next start must not use the request ids of this one.
    this.sandbox.journal.subscribe((event) => event.type === "sandbox.started" && this.save());
    if (!isNew) this.#tryToSave();
  }

  /** Writes everything. Throws `state_unwritable`; the next save writes it then. */
  save(): void {
    if (this.#saving !== undefined) this.#pace.run(() => this.#write(this.#reserved()));
  }

  /** Why the state cannot be saved, as a sentence; `undefined` if it can. */
  problem(): string | undefined {
    return this.#failure === undefined
      ? undefined
      : `The state cannot be saved: ${fileFailure(this.#failure)}.`;
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
      makeFolder(dirname(this.#place.file), 0o700);
      this.#pace.run(() => this.#writeNow(this.#reserved()));
    } catch (error) {
      throw unwritableState(this.#place.name, error);
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

  #positionNow(): string {
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
      const isNew = this.#failure === undefined;
      this.#failure = error;
      const unwritable = unwritableState(this.#place.name, error, "The file keeps its last saved state. ");
      if (isNew) this.#options.onProblem(unwritable);
      throw unwritable;
    }
  }

  #writeNow(responded: number): void {
    const { file } = this.#place;
    const position = this.#positionNow();
    replaceFile(file, stateText(this.sandbox, this.#options.startedScenario(), responded), 0o600, () => {
      const stamp = stampOf(file);
      if (stamp !== undefined && stamp !== this.#stamp) throw takenOver;
    });
    [this.#stamp, this.#position, this.#failure] = [stampOf(file), position, undefined];
  }
}

const takenOver = new Error("another program has written it, such as a server in another container");

function stampOf(file: string): string | undefined {
  const { ino, size, mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return ino === undefined ? undefined : `${ino} ${size} ${mtimeMs}`;
}

function readText(file: string, name: string): string | undefined {
  return orUnreadable(name, () => {
    const stats = statSync(file, { throwIfNoEntry: false });
    // Reading a pipe would wait for a writer.
    if (stats?.isFile() === false) throw new Error("it is not a regular file");
    return stats && readFileSync(file, "utf8");
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
