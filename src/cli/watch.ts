import { type Stats, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { OpenedScenario } from "../node/files/scenario-files.js";
import type { Logger } from "../node/logger.js";
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
  reload.watch.start(new Map(files.map((file) => [file, unreadState])));
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
    const states = new FileStates();
    try {
      const opened = await openScenarioArgument(this.#name, io, { onFile: (file) => states.addUnread(file) });
      const note = await this.#serve(opened);
      return { states, onFollowed: () => note !== undefined && logger.note(note) };
    } catch (error) {
      this.#isBroken = true;
      const failure = describeFailure(error, { ...flags, json: false });
      return { states, onFollowed: () => logger.problem(`${failure}The running scenario continues.`) };
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

/** In place of the state of a file that is to be read again: no file has this state. */
const unreadState = "unread";

/**
 * The files of a reading, each with its state right before it was read: a write that comes later results in another state. No time
 * is compared, because a file system's clock may lag behind the one of this process.
 */
export class FileStates extends Map<string, string> {
  /** Adds a file that is read next. One that is read twice has changed if it has since the first time. */
  addUnread(file: string): void {
    if (this.has(file)) return;
    let stats: Stats | undefined;
    try {
      stats = statSync(file);
    } catch {
      // It is missing, or cannot be read.
    }
    this.set(file, stateText(stats));
  }
}

/** The state of a file, which is another one after each change; `undefined` is a file that is missing. */
function stateText(stats: Stats | undefined): string {
  if (stats === undefined) return "missing";
  const { ctimeMs, mtimeMs, size, dev, ino } = stats;
  // A link to another file changes no time of that file.
  return `${dev} ${ino} ${ctimeMs} ${mtimeMs} ${size}`;
}

/** A reading of files. */
interface FileReading {
  /** The files to follow from now on; none to follow the same ones. */
  readonly states: ReadonlyMap<string, string>;
  /** Called once these files are followed: no later change is missed. */
  readonly onFollowed: () => unknown;
}

/** Watches files, and has them read again after a change. */
export class FileWatch {
  readonly #readAgain: () => Promise<FileReading>;
  /** The files that are followed, in their order. */
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

  /** Starts to follow files, which were read in these states. */
  start(states: ReadonlyMap<string, string>): void {
    this.#follow(states);
    this.#checks = this.#checkUntilClosed();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#checks;
  }

  #follow(states: ReadonlyMap<string, string>): void {
    this.#files = [...states.keys()].sort();
    this.#stateAsRead = this.#files.map((file) => states.get(file)).join("\n");
  }

  async #checkUntilClosed(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const stats = await Promise.all(this.#files.map((file) => stat(file).catch(() => undefined)));
      const state = stats.map(stateText).join("\n");
      const isSettled = state === this.#stateAtLastCheck;
      this.#stateAtLastCheck = state;
      const isChanged = isSettled && state !== this.#stateAsRead;
      if (isChanged && !signal.aborted) {
        const reading = await this.#readAgain();
        // A reading that failed before its first file follows the same ones.
        if (reading.states.size === 0) this.#stateAsRead = state;
        else this.#follow(reading.states);
        reading.onFollowed();
      }
      // An abort rejects, which also ends the pause.
      await sleep(pollIntervalMs, undefined, { signal }).catch(() => {});
    }
  }
}
