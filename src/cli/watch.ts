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
import { openScenarioArgument } from "./scenario.js";
import type { SandboxFlags } from "./shared-flags.js";

/** What a reload of the scenario needs of a running `start`. */
interface ReloadContext {
  readonly origin: OpenedScenario["origin"];
  readonly call: Pick<CommandCall<SandboxFlags>, "flags" | "io">;
  /** The scenario that the server serves, as its files were last loaded. */
  readonly served: { loaded: LoadedScenario };
  readonly sandbox: SandboxState;
  readonly logger: Logger;
  readonly onReload: (opened: OpenedScenario) => Promise<void>;
}

/** Serves the scenario in a new sandbox each time its files change; a broken one leaves the running sandbox unchanged. Resolves to how to stop that. */
export async function startWatching(context: ReloadContext): Promise<() => Promise<void>> {
  const { origin, call, served, logger } = context;
  const { name, files } = served.loaded;
  const copy = `${call.io.program} show ${name} > my.yaml`;
  const whyNothing = {
    file: undefined,
    stdin: "the scenario came from stdin.",
    run: "the scenario came from the run that this process belongs to.",
    bundled: `${name} is a bundled scenario. Copy it with \`${copy}\`.`,
  }[origin];
  if (whyNothing !== undefined) {
    logger.note(`Nothing to watch: ${whyNothing}`);
    return async () => {};
  }

  const reload = new ReloadOnChange(context);
  // The files may have changed since the scenario was loaded: each is read once more.
  await reload.watch.start(files, "unread");
  return () => reload.watch.close();
}

/** Loads the scenario of a running sandbox again whenever its files change. */
class ReloadOnChange {
  readonly watch = new FileWatch(() => this.#reload());
  readonly #context: ReloadContext;
  readonly #name: string;
  /** Whether the latest load failed. */
  #isBroken = false;

  constructor(context: ReloadContext) {
    this.#context = context;
    this.#name = context.served.loaded.name;
  }

  /** Serves the scenario as its files are now, or reports why it cannot be loaded. */
  async #reload(): Promise<FileReading> {
    const { call, logger } = this.#context;
    const { flags, io } = call;
    // The scenario may extend other files now. One that is missing, or that has a problem, may mend it.
    const files: string[] = [];
    try {
      const opened = await openScenarioArgument(this.#name, io, { onFile: (file) => files.push(file) });
      const note = await this.#serve(opened);
      return { files, onFollowed: () => note !== undefined && logger.note(note) };
    } catch (error) {
      this.#isBroken = true;
      const failure = describeFailure(error, { ...flags, json: false });
      return { files, onFollowed: () => logger.problem(`${failure}The running scenario continues.`) };
    }
  }

  /** Serves a scenario in a new sandbox if it has changed. Resolves to what there is to say. */
  async #serve(opened: OpenedScenario): Promise<string | undefined> {
    const { served, sandbox, onReload } = this.#context;
    const wasBroken = this.#isBroken;
    this.#isBroken = false;

    const isChanged = JSON.stringify(opened.loaded.scenario) !== JSON.stringify(served.loaded.scenario);
    if (!isChanged) {
      // Its text may have another comment now.
      served.loaded = opened.loaded;
      return wasBroken ? `${this.#name} is valid again, unchanged.` : undefined;
    }

    const start = checkedReplacement(sandbox, opened.loaded);
    // Before the sandbox is replaced, because a state file then saves it with this scenario.
    served.loaded = opened.loaded;
    replaceScenario(sandbox, start);
    await onReload(opened);
    return `Loaded ${this.#name} again, in a new sandbox.`;
  }
}

// Looks at files again and again, which also works on network drives and container volumes, and for files that are removed
// or replaced. What a check finds, of files that were read in the state A:
//
//   check   state
//   1       A      as they were read
//   2       B      an editor may be writing
//   3       C      an editor may be writing
//   4       C      two checks found the same state, so the files are read again

/** Milliseconds between two checks of the files. */
const pollIntervalMs = 100;

/** A reading of files. */
interface FileReading {
  /** The files to follow from now on. */
  readonly files: readonly string[];
  /** Called once these files are followed: no later change is missed. */
  readonly onFollowed: () => unknown;
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
    else this.#stateAsRead = await stateOfFiles(this.#files, readAt);
    this.#checks = this.#checkUntilClosed();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#checks;
  }

  async #checkUntilClosed(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const state = await stateOfFiles(this.#files);
      const isSettled = state === this.#stateAtLastCheck;
      this.#stateAtLastCheck = state;
      const isChanged = isSettled && state !== this.#stateAsRead;
      if (isChanged && !signal.aborted) await this.#read(state);
      // An abort rejects, which also ends the pause.
      await sleep(pollIntervalMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Has the files read, which are in this state. */
  async #read(state: string): Promise<void> {
    const readAt = nodePlatform.time();
    const reading = await this.#readAgain();
    const files = sortedOnce(reading.files);
    // If they are the same ones, the next check finds what has changed since this state.
    const areSame = files.join("\n") === this.#files.join("\n");
    this.#stateAsRead = areSame ? state : await stateOfFiles(files, readAt);
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

/** The state of files: another text after each change of one of them. A file that has changed since `readAt` counts as unread. */
async function stateOfFiles(files: readonly string[], readAt = Number.POSITIVE_INFINITY): Promise<string> {
  const states = files.map(async (file) => {
    try {
      const { ctimeMs, mtimeMs, size, dev, ino } = await stat(file);
      if (ctimeMs >= readAt) return unreadState;
      // A link to another file changes no time of that file.
      return `${dev} ${ino} ${ctimeMs} ${mtimeMs} ${size}`;
    } catch {
      return "missing";
    }
  });
  return (await Promise.all(states)).join("\n");
}
