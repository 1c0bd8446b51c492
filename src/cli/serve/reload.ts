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
  const { FileWatch } = await import("../../node/files/watch.js");
  const reloads = new Reloads(flags, io, served);
  const watching: InstanceType<typeof FileWatch> = new FileWatch(() =>
    reloads.reload((paths) => watching.follow(paths)),
  );
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
