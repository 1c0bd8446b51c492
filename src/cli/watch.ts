import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { OpenedScenario } from "../node/files/scenario-files.js";
import type { Logger } from "../node/logger.js";
import { nodePlatform } from "../node/platform.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { checkedReplacement, replaceScenario } from "../sandbox/start-sandbox.js";
import type { LoadedScenario } from "../scenario/scenario-source.js";
import type { CommandCall } from "./command.js";
import { describeFailure } from "./exit-codes.js";
import { filesOfFailure, isBundled, openScenarioArgument } from "./scenario.js";
import type * as shared from "./shared-flags.js";

/** The scenario that a server serves: with --watch, as its files were last loaded. */
export interface ServedScenario {
  loaded: LoadedScenario;
}

/** What a reload of the scenario needs of a running `start`. */
interface ReloadContext {
  readonly call: Pick<CommandCall<shared.SandboxFlags>, "flags" | "io">;
  readonly served: ServedScenario;
  readonly sandbox: SandboxState;
  readonly logger: Logger;
  readonly onReload: (opened: OpenedScenario) => Promise<void>;
}

/** What came of a reload that has not failed: after a load that had failed, an unchanged scenario is mended. */
type Reload = "unchanged" | "mended" | "replaced";

/** Serves the scenario in a new sandbox each time its files change; a broken one leaves the running sandbox unchanged. Resolves to how to stop that. */
export async function startWatching(context: ReloadContext): Promise<() => Promise<void>> {
  const { call, served, logger } = context;
  const { name, piped } = served.loaded;
  if (piped !== undefined) {
    logger.note("Nothing to watch: the scenario came from stdin.");
    return async () => {};
  }
  if (isBundled(served.loaded)) {
    const copy = `${call.io.program} show ${name} > my.yaml`;
    logger.note(`Nothing to watch: ${name} is a bundled scenario. Copy it with \`${copy}\`.`);
    return async () => {};
  }

  const reload = new ReloadOnChange(context);
  await reload.start();
  return () => reload.stop();
}

/** Loads the scenario of a running sandbox again whenever its files change. */
class ReloadOnChange {
  readonly #context: ReloadContext;
  readonly #name: string;
  readonly #watch = new FileWatch(() => this.#reload());
  /** Whether the latest load failed. */
  #isBroken = false;

  constructor(context: ReloadContext) {
    this.#context = context;
    this.#name = context.served.loaded.name;
  }

  /** The files may have changed since the scenario was loaded: each is read once more. */
  start(): Promise<void> {
    return this.#watch.start(this.#context.served.loaded.files, "unread");
  }

  stop(): Promise<void> {
    return this.#watch.close();
  }

  /** Serves the scenario as its files are now, or reports why it cannot be loaded. */
  async #reload(): Promise<FileReading> {
    const { call, logger } = this.#context;
    const { flags, io } = call;
    let { files } = this.#watch;
    try {
      const opened = await openScenarioArgument(this.#name, io);
      // The scenario may extend other files now.
      files = opened.loaded.files;
      const reload = await this.#serve(opened);
      return { files, onFollowed: () => this.#note(reload) };
    } catch (error) {
      this.#isBroken = true;
      const failure = describeFailure(error, { ...flags, json: false });
      return {
        // A file that it extended before may mend it, or one that has a problem.
        files: [...files, ...filesOfFailure(error, this.#name, io.cwd)],
        onFollowed: () => logger.problem(`${failure}The running scenario continues.`),
      };
    }
  }

  /** Serves a scenario in a new sandbox if it has changed. */
  async #serve(opened: OpenedScenario): Promise<Reload> {
    const { served, sandbox, onReload } = this.#context;
    const wasBroken = this.#isBroken;
    this.#isBroken = false;

    const isChanged = JSON.stringify(opened.loaded.scenario) !== JSON.stringify(served.loaded.scenario);
    if (!isChanged) {
      // Its text may have another comment now.
      served.loaded = opened.loaded;
      return wasBroken ? "mended" : "unchanged";
    }

    const start = checkedReplacement(sandbox, opened.loaded);
    // Before the sandbox is replaced, because a state file then saves it with this scenario.
    served.loaded = opened.loaded;
    replaceScenario(sandbox, start);
    await onReload(opened);
    return "replaced";
  }

  #note(reload: Reload): void {
    const { logger } = this.#context;
    if (reload === "mended") logger.note(`${this.#name} is valid again, unchanged.`);
    if (reload === "replaced") logger.note(`Loaded ${this.#name} again, in a new sandbox.`);
  }
}

// Looks at files again and again, which also works on network drives and container volumes, and for files that are removed
// or replaced. What a check finds, of files that were read in the state A:
//
//   check   state   finding
//   1       A       as_read
//   2       B       changing: an editor may be writing
//   3       C       changing
//   4       C       changed: two checks found the same state, so the files are read again

/** Milliseconds between two checks of the files. */
const pollIntervalMs = 100;

type FilesFound =
  /** The files are as they were read. */
  | "as_read"
  /** They have changed since they were read, and since the check before. */
  | "changing"
  /** They have changed since they were read, but not since the check before. */
  | "changed";

/** A reading of files. */
export interface FileReading {
  /** The files to follow from now on. */
  readonly files: readonly string[];
  /** Called once these files are followed: no later change is missed. */
  readonly onFollowed: () => void;
}

/** Watches files, and has them read again after a change. */
export class FileWatch {
  readonly #readAgain: () => Promise<FileReading>;
  #files: readonly string[] = [];
  #stateAsRead = "";
  #stateAtLastCheck = "";
  readonly #closing = new AbortController();
  /** All checks, from the start until the watch is closed. */
  #checks: Promise<void> | undefined;

  /** `readAgain` reads the files after a change; it does not reject. */
  constructor(readAgain: () => Promise<FileReading>) {
    this.#readAgain = readAgain;
  }

  /** The files that are followed. */
  get files(): readonly string[] {
    return this.#files;
  }

  /** Starts to follow files. `readAt` is the time at which their reading began, or says that they are to be read first. */
  async start(files: readonly string[], readAt: number | "unread"): Promise<void> {
    this.#files = sortedOnce(files);
    if (readAt === "unread") this.#stateAsRead = unreadState;
    else this.#stateAsRead = await stateUnlessChangedSince(readAt, this.#files);
    this.#checks = this.#checkUntilClosed();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#checks;
  }

  async #checkUntilClosed(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const state = await stateNow(this.#files);
      const finding = this.#compare(state);
      this.#stateAtLastCheck = state;
      if (finding === "changed" && !signal.aborted) await this.#read(state);
      // An abort rejects, which also ends the pause.
      await sleep(pollIntervalMs, undefined, { signal }).catch(() => {});
    }
  }

  #compare(state: string): FilesFound {
    if (state === this.#stateAsRead) return "as_read";
    return state === this.#stateAtLastCheck ? "changed" : "changing";
  }

  /** Has the files read, which are in this state. */
  async #read(state: string): Promise<void> {
    const readAt = nodePlatform.time();
    const reading = await this.#readAgain();
    const files = sortedOnce(reading.files);
    // If they are the same ones, the next check finds what has changed since this state.
    const areSame = files.join("\n") === this.#files.join("\n");
    this.#stateAsRead = areSame ? state : await stateUnlessChangedSince(readAt, files);
    this.#files = files;
    reading.onFollowed();
  }
}

/** The names of files in their order, each once. */
function sortedOnce(files: readonly string[]): readonly string[] {
  return [...new Set(files)].sort();
}

/** In place of the state of a file as it was read, if the file is to be read again: no file has this state. */
const unreadState = "unread";

/** The state of one file. */
interface FileState {
  /** Another text after each change. */
  readonly text: string;
  /** Milliseconds; 0 for a missing file. */
  readonly changedAt: number;
}

/** The state of files: another text after each change of one of them. */
async function stateNow(files: readonly string[]): Promise<string> {
  const states = await Promise.all(files.map(fileState));
  return states.map(({ text }) => text).join("\n");
}

/** The state of files that were read at a time. A file that has changed since then counts as unread. */
async function stateUnlessChangedSince(readAt: number, files: readonly string[]): Promise<string> {
  const states = await Promise.all(files.map(fileState));
  return states.map(({ text, changedAt }) => (changedAt >= readAt ? unreadState : text)).join("\n");
}

async function fileState(file: string): Promise<FileState> {
  try {
    const { ctimeMs, mtimeMs, size, dev, ino } = await stat(file);
    // A link to another file changes no time of that file.
    return { text: `${dev} ${ino} ${ctimeMs} ${mtimeMs} ${size}`, changedAt: ctimeMs };
  } catch {
    return { text: "missing", changedAt: 0 };
  }
}
