import type { OpenedScenario } from "../../node/files/scenario-files.js";
import type { Logger } from "../../node/logger.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { checkedReplacement, replaceScenario } from "../../sandbox/start-sandbox.js";
import type { LoadedScenario } from "../../scenario/scenario-source.js";
import type { CommandCall } from "../command.js";
import { describeFailure } from "../exit-codes.js";
import type * as shared from "../flags/shared-flags.js";
import { isBundled, openScenarioArgument } from "../scenario/open-scenario.js";
import { filesOfFailure } from "../scenario/scenario-failures.js";
import { type FileReading, FileWatch } from "./file-watch.js";

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
