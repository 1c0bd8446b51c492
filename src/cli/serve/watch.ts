import type { OpenedScenario } from "../../node/files/scenario-files.js";
import type { Logger } from "../../node/logger.js";
import { nodePlatform } from "../../node/platform.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { anotherStart, replaceScenario } from "../../sandbox/start-sandbox.js";
import type { LoadedScenario } from "../../scenario/scenario-source.js";
import type { CommandCall } from "../command.js";
import { describeFailure } from "../exit-codes.js";
import type * as shared from "../flags/shared-flags.js";
import { openScenarioArgument } from "../scenario/open-scenario.js";
import { filesOfFailure } from "../scenario/scenario-failures.js";
import { FileWatch } from "./file-watch.js";

/** The scenario of a server: another one after each reload. */
export interface ServedScenario {
  loaded: LoadedScenario;
}

/** What a reload of the scenario needs of a running `start`. */
interface ReloadContext {
  readonly call: Pick<CommandCall<shared.SandboxFlags>, "flags" | "io">;
  readonly scenario: ServedScenario;
  readonly sandbox: SandboxState;
  readonly logger: Logger;
  readonly onReload: (opened: OpenedScenario) => Promise<void>;
}

/** Serves the scenario in a new sandbox each time its files change; a broken one leaves the running sandbox unchanged. Resolves to how to stop that. */
export async function startWatching(context: ReloadContext): Promise<() => Promise<void>> {
  const { call, scenario, logger } = context;
  const { name, piped, files } = scenario.loaded;
  if (piped !== undefined) {
    logger.note("Nothing to watch: the scenario came from stdin.");
    return async () => {};
  }
  if (files.length === 0) {
    const copy = `${call.io.program} show ${name} > my.yaml`;
    logger.note(`Nothing to watch: ${name} is a bundled scenario. Copy it with \`${copy}\`.`);
    return async () => {};
  }

  const reload = new ReloadOnChange(context);
  reload.start();
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
    this.#name = context.scenario.loaded.name;
  }

  /** The files may have changed since the scenario was loaded: each is read once more. */
  start(): void {
    this.#watch.followUnread(this.#context.scenario.loaded.files);
  }

  stop(): Promise<void> {
    return this.#watch.close();
  }

  /** Serves the scenario as its files are now, or reports why it cannot be loaded. */
  async #reload(): Promise<void> {
    const { call, logger } = this.#context;
    const { flags, io } = call;
    const readAt = nodePlatform.time();
    try {
      const opened = await openScenarioArgument(this.#name, io);
      // The scenario may extend other files now.
      await this.#watch.followRead(opened.loaded.files, readAt);
      await this.#serve(opened);
    } catch (error) {
      this.#isBroken = true;
      // A file that it extended before may mend it, or one that has a problem.
      const files = new Set([...this.#watch.files, ...filesOfFailure(error, this.#name, io.cwd)]);
      await this.#watch.followRead([...files], readAt);
      const failure = describeFailure(error, { ...flags, json: false });
      logger.problem(`${failure}The running scenario continues.`);
    }
  }

  async #serve(opened: OpenedScenario): Promise<void> {
    const { scenario, sandbox, logger, onReload } = this.#context;
    const wasBroken = this.#isBroken;
    this.#isBroken = false;

    const isChanged = JSON.stringify(opened.loaded.scenario) !== JSON.stringify(scenario.loaded.scenario);
    if (!isChanged) {
      // Its text may have another comment now.
      scenario.loaded = opened.loaded;
      if (wasBroken) logger.note(`${this.#name} is valid again, unchanged.`);
      return;
    }
    const start = anotherStart(sandbox, opened.loaded);
    // Before anyone hears of it: a state file saves the sandbox then, with this scenario.
    scenario.loaded = opened.loaded;
    replaceScenario(sandbox, start);
    await onReload(opened);
    logger.note(`Loaded ${this.#name} again, in a new sandbox.`);
  }
}
