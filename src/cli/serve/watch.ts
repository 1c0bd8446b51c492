import { stat } from "node:fs/promises";
import type { LoadedScenario, OpenedScenario } from "../../node/files/load-scenario.js";
import type { Logger } from "../../node/logger.js";
import { SandboxError } from "../../rules/errors.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { restartSandbox } from "../../sandbox/start-sandbox.js";
import type { CommandCall } from "../command.js";
import { describeFailure } from "../exit-codes.js";
import type * as flag from "../flags.js";
import { openNamed } from "../open-scenario.js";

/** The part of a running `start` that a reload changes. */
interface Reloadable {
  readonly call: CommandCall<flag.SandboxFlags>;
  readonly logger: Logger;
  loaded: LoadedScenario;
  places: OpenedScenario["places"] | undefined;
}

/** Reports a broken scenario, and leaves the running sandbox unchanged. Resolves to how to stop that. */
export async function startWatching(
  serving: Reloadable,
  sandbox: SandboxState,
  onReload: () => Promise<void>,
): Promise<() => Promise<void>> {
  const { call, logger } = serving;
  const { flags, io } = call;
  const { name, piped, files } = serving.loaded;
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
    await watching.follow(opened.loaded.files);
    const wasBroken = isBroken;
    isBroken = false;
    const isChanged = JSON.stringify(opened.loaded.scenario) !== JSON.stringify(serving.loaded.scenario);
    if (isChanged) {
      serveFresh(opened, serving, sandbox);
      await onReload();
      logger.note(`Loaded ${name} again, in a new sandbox.`);
    } else if (wasBroken) {
      logger.note(`${name} is valid again, unchanged.`);
    }
  };
  const onFailure = (error: unknown) => {
    isBroken = true;
    const failure = describeFailure(error, { ...flags, json: false });
    logger.problem(`${failure}The running scenario continues.`);
  };
  const watching = new FileWatch(() => reload().catch(onFailure));
  await watching.follow(files);
  return () => watching.close();
}

function serveFresh(fresh: OpenedScenario, serving: Reloadable, sandbox: SandboxState): void {
  try {
    restartSandbox(sandbox, {}, fresh.loaded, () => {
      serving.loaded = fresh.loaded;
      serving.places = fresh.places;
    });
  } catch (error) {
    // The new sandbox is served even if one of our files cannot be written.
    if (!(error instanceof SandboxError && error.code === "state_unwritable")) throw error;
    serving.logger.problem(error.message);
  }
}

/** Milliseconds between checks of the files; a burst of changes ends when two checks find the same state. */
const pollIntervalMs = 100;

/** Polls the files, which also works on network drives and container volumes, and for files that are removed or replaced. */
export class FileWatch {
  readonly #changed: () => Promise<void>;
  #files: readonly string[] = [];
  #handled = "";
  #latest = "";
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  constructor(changed: () => Promise<void>) {
    this.#changed = changed;
  }

  async follow(files: readonly string[], readAt = 0): Promise<void> {
    const names = files.toSorted();
    if (names.join("\n") === this.#files.join("\n")) return;
    this.#files = names;
    this.#handled = await versionOf(names, readAt);
    if (!this.#isClosed) this.#looking ??= this.#look();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const now = await versionOf(this.#files);
    const isUnchanged = now === this.#latest;
    this.#latest = now;
    if (isUnchanged && now !== this.#handled && !this.#isClosed) {
      this.#handled = now;
      await this.#changed();
    }
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look();
    }, pollIntervalMs);
  }
}

/** Returns another text after any change to the files, and if one changed after `readAt`. */
async function versionOf(files: readonly string[], readAt = Number.POSITIVE_INFINITY): Promise<string> {
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
