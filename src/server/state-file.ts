import { resolve } from "node:path";
import { LockedFile } from "../node/files/lock.js";
import { fileFailure, resolveLinks } from "../node/files/write-file.js";
import { version } from "../node/package-files.js";
import { nodeCrypto, nodePlatform, timers } from "../node/platform.js";
import { SandboxError } from "../rules/errors.js";
import { cachedByObject } from "../sandbox/cached-by.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { afterPause, type SavedSandbox, saveSandbox, stateFormat } from "../sandbox/saved-sandbox.js";
import { continueSandbox, prepareStart, type StartSettings, startSandbox } from "../sandbox/start-sandbox.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { NamedScenario } from "../scenario/scenario-source.js";
import { tryParseJson } from "../schema/json-text.js";
import { isMapping } from "../schema/type-tag.js";
import { quote, quoteFile } from "../schema/words.js";

// A state file keeps the sandbox of a server for its next start:
//
//     what is in it      a `SavedSandbox` (`src/sandbox/saved-sandbox.ts`), when it was saved, the scenario that the server was
//                        started with, a checksum
//     when it is read    at the start: `openStateFile`
//     what is checked    its format, its checksum, its scenario, in this order: `parseState`
//     when it is written with the start, with each change of the control plane, some time after requests, at the end: `StateFile`

/** How many of its 64 digits a checksum has. */
const checksumLength = 16;

/** Milliseconds between two saves by the timer, or more if they take long. */
const saveIntervalMs = 500;

/** Where a server keeps its sandbox. */
export interface StateOptions {
  /** The name of the file, also for messages. */
  readonly name: string;
  /** The folder of a relative name. Default: that of the process. */
  readonly cwd?: string;
  /** The scenario that the server was started with, without its options: a state of another one is rejected. */
  readonly startedScenario: () => NamedScenario;
  /** Called with the first failure after a success. */
  readonly onProblem: (error: unknown) => void;
}

/**
 * Continues the sandbox of a file, or starts a new one that `startSaving` writes there for the first time.
 *
 * Throws `state_unreadable`, `state_mismatch` for another scenario's state, or `state_in_use` if another process uses the file.
 * An error leaves the file unchanged.
 */
export async function openStateFile(settings: StartSettings, options: StateOptions): Promise<StateFile> {
  const { name, cwd = "", startedScenario } = options;
  const readOrThrow = <Result>(read: () => Result, whatToDo?: string): Result => {
    try {
      return read();
    } catch (error) {
      throw unreadableState(name, fileFailure(error), whatToDo);
    }
  };
  const file = await LockedFile.lock(readOrThrow(() => resolveLinks(resolve(cwd, name))));
  if (file === undefined) {
    const message = `The state ${quoteFile(name)} is in use by another process. Stop that process, or name another file with --state.`;
    throw new SandboxError("state_in_use", message);
  }

  try {
    const text = readOrThrow(() => file.read());
    if (text === undefined) return new StateFile(file, options, startSandbox(prepareStart(settings)));

    const state = parseState(text, startedScenario(), name);
    const saved = afterPause(state.sandbox, settings.platform.time() - state.saved_at);
    const sandbox = readOrThrow(() => continueSandbox(saved, settings), startAgain);
    return new StateFile(file, options, sandbox, state.saved_at);
  } catch (error) {
    file.unlock();
    throw error;
  }
}

/** The scenario that a server starts with; another may run later. */
interface ScenarioIdentity {
  readonly name: string;
  /** The hash of its content: the same for a moved file, different for an edited file. */
  readonly sha256: string;
}

/** What a state file contains, besides its format, the version that wrote it and its checksum. */
interface SavedState {
  readonly started_with: ScenarioIdentity;
  /** On the wall clock, in epoch milliseconds. */
  readonly saved_at: number;
  readonly sandbox: SavedSandbox;
}

// The text is one object of JSON. Its last member is a checksum of the same object without that member:
//
//     {"svc_sandbox_state":18,…,"sandbox":{…},"sum":"0123456789abcdef"}

/** The text of a state, in parts: with 100,000 keys, it is 27 MB. It contains no full keys except a scenario's pinned keys (R35). */
export function* stateParts(sandbox: SandboxState, startedWith: NamedScenario): Generator<string> {
  const started_with = scenarioIdentity(startedWith);
  // Read before the clock, so that the restored clock never lags behind.
  const saved_at = sandbox.platform.time();
  const firstMembers = JSON.stringify({ svc_sandbox_state: stateFormat, version, started_with, saved_at });
  const hash = nodeCrypto.createHash("sha256");
  const opening = `${firstMembers.slice(0, -1)},"sandbox":`; // the object goes on
  hash.update(opening);
  yield opening;
  for (const part of saveSandbox(sandbox)) {
    hash.update(part);
    yield part;
  }

  // Without the checksum, the object ends here.
  hash.update("}");
  yield `,"sum":"${hash.digest("hex").slice(0, checksumLength)}"}\n`;
}

/**
 * Reads the state of a text. `startedWith` is the scenario of this start: the same as that of the start before, but it may have
 * another name now. `file` is the name for messages. Throws `state_unreadable`, or `state_mismatch` for another scenario.
 */
export function parseState(text: string, startedWith: NamedScenario, file: string): SavedState {
  const content = tryParseJson(text);
  if (!isMapping(content) || content.svc_sandbox_state === undefined) {
    throw unreadableState(file, "it is not a whole state of svc-sandbox");
  }

  const { svc_sandbox_state: format, version: writer, sum, ...rest } = content;
  // Another version, or another build of this one, may have written it.
  if (format !== stateFormat) {
    const why = `its format is ${quote(format)}, and svc-sandbox ${version} reads format ${stateFormat}`;
    const isOfVersion = typeof writer === "string" && /^\d[\w.+-]{0,39}$/.test(writer) && writer !== version;
    if (!isOfVersion) throw unreadableState(file, why, startAgain);
    const whatToDo = `To continue it, start svc-sandbox ${writer}, which wrote it. To start again, name another file, or remove this one.`;
    throw unreadableState(file, why, whatToDo);
  }

  // The checksum is of the same object without this last member.
  const contentOfSum = `${text.slice(0, text.lastIndexOf(',"sum":'))}}`;
  const isWhole = sum === nodePlatform.sha256(contentOfSum).slice(0, checksumLength);
  if (!isWhole) throw unreadableState(file, "it was changed or damaged", startAgain);
  const saved = rest as unknown as SavedState; // svc-sandbox wrote what has its checksum
  requireSameScenario(saved.started_with, scenarioIdentity(startedWith), file);

  // The file of this scenario may have been moved since. Another scenario may have been loaded, and has a name of its own.
  const { sandbox } = saved;
  const runsThisScenario = sandbox.name === saved.started_with.name;
  const name = runsThisScenario ? startedWith.name : sandbox.name;
  return { ...saved, sandbox: { ...sandbox, name } };
}

function scenarioIdentity({ name, scenario }: NamedScenario): ScenarioIdentity {
  return { name, sha256: scenarioHash(scenario) };
}

// Cached: each save needs it.
const scenarioHash = cachedByObject((scenario: Scenario) => nodePlatform.sha256(JSON.stringify(scenario)));

/** Throws `state_mismatch` if another scenario started the state. */
function requireSameScenario(saved: ScenarioIdentity, current: ScenarioIdentity, file: string): void {
  if (saved.sha256 === current.sha256) return;
  const identityText = ({ name, sha256 }: ScenarioIdentity) => `${name} (content ${sha256.slice(0, 12)})`;
  throw new SandboxError(
    "state_mismatch",
    `The state ${quoteFile(file)} was started with the scenario ${identityText(saved)}, and this start has ${identityText(current)}. Start with the same scenario, name another file, or remove this one to start again.`,
    { stored: saved, own: current },
  );
}

/** What to do about a file that svc-sandbox has written, and cannot continue. */
const startAgain = "Name another file, or remove this one to start again.";

/** The error of a file that cannot be continued. It may be the user's: by default, nobody should remove it. */
function unreadableState(
  file: string,
  why: string,
  whatToDo = "Name another file for the state.",
): SandboxError {
  const message = `Failed to continue from the state ${quoteFile(file)}: ${why}. ${whatToDo}`;
  return new SandboxError("state_unreadable", message);
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
  /** When the sandbox that continues was saved (epoch milliseconds, wall clock); `undefined` for a new one. */
  readonly savedAt: number | undefined;
  readonly #file: LockedFile;
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

  constructor(file: LockedFile, options: StateOptions, sandbox: SandboxState, savedAt?: number) {
    this.#file = file;
    this.#options = options;
    this.sandbox = sandbox;
    this.savedAt = savedAt;
  }

  /** Starts to save. Throws `state_unwritable` if a new file cannot be written; `close` saves nothing then. */
  startSaving(): void {
    const isNew = this.savedAt === undefined;
    if (isNew) {
      try {
        this.#file.makeFolder();
        this.#write();
      } catch (error) {
        // It is not reported, because the caller gets it, and starts no server.
        throw unwritableState(this.#options.name, error);
      }
    }
    this.#phase = "saving";
    this.#startTimer();

    // A new series of request ids begins with each start of a scenario, and has begun with this start.
    this.sandbox.journal.subscribe((event) => {
      if (event.type === "sandbox.started") this.#saveInBackground();
    });
    if (!isNew) this.#saveInBackground();
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
      this.#writeChanges();
    } catch (error) {
      const isFirst = !this.#hasFailed;
      this.#hasFailed = true;
      if (isFirst) this.#options.onProblem(error);
      throw error;
    }
    this.#hasFailed = false;
  }

  /** Writes the file again. Throws `state_unwritable`. */
  #writeChanges(): void {
    try {
      this.#write();
    } catch (cause) {
      throw unwritableState(this.#options.name, cause, "The file keeps its last saved state. ");
    }
  }

  /** Whether the last save failed. */
  isUnwritable(): boolean {
    return this.#hasFailed;
  }

  /** Saves for the last time. Throws `state_unwritable`, and leaves the report to its caller. Does nothing if it is closed already. */
  close(): void {
    if (this.#phase === "closed") return;
    timers.clearInterval(this.#timer);
    try {
      if (this.#phase === "saving") this.#writeChanges();
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
