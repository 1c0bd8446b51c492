import { stat } from "node:fs/promises";
import type { OpenedScenario } from "../../node/files/scenario-files.js";
import type { Logger } from "../../node/logger.js";
import { SandboxError } from "../../rules/errors.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { startAnother } from "../../sandbox/start-sandbox.js";
import type { CommandCall } from "../command.js";
import { describeFailure } from "../exit-codes.js";
import type * as flag from "../flags.js";
import { openNamed } from "../open-scenario.js";
import type { ServedScenario } from "./served-scenario.js";

/** What a reload of the scenario needs of a running `start`. */
interface Watching {
  readonly call: Pick<CommandCall<flag.SandboxFlags>, "flags" | "io">;
  readonly scenario: ServedScenario;
  readonly sandbox: SandboxState;
  readonly logger: Logger;
  readonly onReload: () => Promise<void>;
}

/** Serves the scenario in a new sandbox each time its files change; a broken one leaves the running sandbox unchanged. Resolves to how to stop that. */
export async function startWatching(watching: Watching): Promise<() => Promise<void>> {
  const { call, scenario, logger } = watching;
  const { flags, io } = call;
  const { name, piped, files } = scenario.loaded;
  if (piped !== undefined) {
    logger.note("Nothing to watch: the scenario came from stdin.");
    return async () => {};
  }
  if (files.length === 0) {
    const copy = `${io.program} show ${name} > my.yaml`;
    logger.note(`Nothing to watch: ${name} is a bundled scenario. Copy it with \`${copy}\`.`);
    return async () => {};
  }

  let isBroken = false;
  const reload = async () => {
    const opened = await openNamed(name, io);
    // The scenario may extend other files now.
    await watch.follow(opened.loaded.files);
    const wasBroken = isBroken;
    isBroken = false;

    const isChanged = JSON.stringify(opened.loaded.scenario) !== JSON.stringify(scenario.loaded.scenario);
    if (isChanged) {
      restart(opened, watching);
      await watching.onReload();
      logger.note(`Loaded ${name} again, in a new sandbox.`);
    } else if (wasBroken) {
      logger.note(`${name} is valid again, unchanged.`);
    }
  };
  const reportFailure = (error: unknown) => {
    isBroken = true;
    const failure = describeFailure(error, { ...flags, json: false });
    logger.problem(`${failure}The running scenario continues.`);
  };

  const watch = new FileWatch(() => reload().catch(reportFailure));
  await watch.follow(files);
  return () => watch.close();
}

/** Restarts the sandbox with the scenario that was opened again. */
function restart(opened: OpenedScenario, { scenario, sandbox, logger }: Watching): void {
  try {
    startAnother(sandbox, opened.loaded, {}, () => scenario.replace(opened));
  } catch (error) {
    // The new sandbox is served even if one of our files cannot be written.
    if (!(error instanceof SandboxError && error.code === "state_unwritable")) throw error;
    logger.problem(error.message);
  }
}

/** Between two checks of the files. */
const pollIntervalMs = 100;

/** Polls files, which also works on network drives and container volumes, and for files that are removed or replaced. */
export class FileWatch {
  readonly #onChange: () => Promise<void>;
  #files: readonly string[] = [];
  /** The state of the files that `onChange` knows. */
  #handledState = "";
  /** The state of the files at the latest check. */
  #latestState = "";
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  /** The latest check, which may be under way. */
  #check: Promise<void> | undefined;

  constructor(onChange: () => Promise<void>) {
    this.#onChange = onChange;
  }

  /** Watches these files in place of others. A change after `readAt` counts. Default: each file counts as changed once. */
  async follow(files: readonly string[], readAt = 0): Promise<void> {
    const names = files.toSorted();
    if (names.join("\n") === this.#files.join("\n")) return;
    this.#files = names;
    this.#handledState = await filesState(names, readAt);
    if (!this.#isClosed) this.#check ??= this.#checkFiles();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#check;
  }

  async #checkFiles(): Promise<void> {
    const state = await filesState(this.#files);
    // A burst of changes has ended when two checks find the same state.
    const isSettled = state === this.#latestState;
    this.#latestState = state;
    if (isSettled && state !== this.#handledState && !this.#isClosed) {
      this.#handledState = state;
      await this.#onChange();
    }

    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#check = this.#checkFiles();
    }, pollIntervalMs);
  }
}

/** A text that is another one after each change of the files. A change after `readAt` makes it a text that no unchanged files have. */
async function filesState(files: readonly string[], readAt = Number.POSITIVE_INFINITY): Promise<string> {
  const states = await Promise.all(files.map((file) => fileState(file, readAt)));
  return states.join("\n");
}

async function fileState(file: string, readAt: number): Promise<string> {
  try {
    const { ctimeMs, mtimeMs, size, dev, ino } = await stat(file);
    if (ctimeMs > readAt) return "changed";
    // A link to another file changes no time of that file.
    return `${dev} ${ino} ${ctimeMs} ${mtimeMs} ${size}`;
  } catch {
    return "missing";
  }
}
