import { stat } from "node:fs/promises";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import type { Logger } from "../../node/logger.js";
import { SandboxError } from "../../rules/errors.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { restartSandbox } from "../../sandbox/start.js";
import type { CommandCall } from "../command.js";
import { describeFailure } from "../exit-codes.js";
import type * as flag from "../flags.js";
import type { Io } from "../io.js";
import { loadNamed } from "../open-scenario.js";

interface Served {
  readonly loaded: LoadedScenario;
  readonly sandbox: SandboxState;
  readonly onLoad: (loaded: LoadedScenario) => void;
  readonly log: Logger;
  readonly onReload: () => Promise<void>;
}

/** Reports a broken scenario, and leaves the running sandbox unchanged. Resolves to how to stop that. */
export async function startWatching(
  { flags, io }: CommandCall<flag.SandboxFlags>,
  served: Served,
): Promise<() => Promise<void>> {
  const { name, piped, files } = served.loaded;
  if (piped !== undefined || files.length === 0) {
    const why =
      piped === undefined
        ? `${name} is a bundled scenario. Copy it with \`${io.program} show ${name} > my.yaml\`.`
        : "the scenario came from stdin.";
    served.log.note(`Nothing to watch: ${why}`);
    return async () => {};
  }
  const reloads = new Reloads(flags, io, served);
  const watching: FileWatch = new FileWatch(() => reloads.reload((files) => watching.follow(files)));
  await watching.follow(files);
  return () => watching.close();
}

class Reloads {
  readonly #flags: CommandCall<flag.SandboxFlags>["flags"];
  readonly #io: Io;
  readonly #served: Served;
  #loaded: LoadedScenario;
  #isBroken = false;

  constructor(flags: CommandCall<flag.SandboxFlags>["flags"], io: Io, served: Served) {
    [this.#flags, this.#io, this.#served, this.#loaded] = [flags, io, served, served.loaded];
  }

  async reload(follow: (files: readonly string[]) => Promise<void>): Promise<void> {
    const { log } = this.#served;
    try {
      const fresh = await loadNamed(this.#loaded.name, this.#io);
      await follow(fresh.files);
      await this.#serve(fresh);
    } catch (error) {
      this.#isBroken = true;
      const failure = describeFailure(error, { ...this.#flags, json: false });
      log.problem(`${failure}The running scenario continues.`);
    }
  }

  async #serve(fresh: LoadedScenario): Promise<void> {
    const { log, onReload } = this.#served;
    const isChanged = JSON.stringify(fresh.scenario) !== JSON.stringify(this.#loaded.scenario);
    const wasBroken = this.#isBroken;
    this.#loaded = fresh;
    this.#isBroken = false;
    if (isChanged) {
      serveFresh(fresh, this.#served);
      await onReload();
      log.note(`Loaded ${fresh.name} again, in a new sandbox.`);
    } else if (wasBroken) {
      log.note(`${fresh.name} is valid again, unchanged.`);
    }
  }
}

function serveFresh(fresh: LoadedScenario, { sandbox, onLoad, log }: Served): void {
  try {
    restartSandbox(sandbox, {}, fresh, () => onLoad(fresh));
  } catch (error) {
    // The new sandbox is served even if one of our files cannot be written.
    if (!(error instanceof SandboxError && error.code === "state_unwritable")) throw error;
    log.problem(error.message);
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
  const states = files.map(async (file) => {
    try {
      const { ctimeMs, mtimeMs, size, dev, ino } = await stat(file);
      // A link to another file changes no time of that file.
      return ctimeMs > readAt ? "changed" : `${dev} ${ino} ${ctimeMs} ${mtimeMs} ${size}`;
    } catch {
      return "missing";
    }
  });
  return (await Promise.all(states)).join("\n");
}
