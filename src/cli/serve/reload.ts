import type { LoadedScenario } from "../../node/files/load-scenario.js";
import type { Logger } from "../../node/logger.js";
import { SandboxError } from "../../rules/errors.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { enter, givenOptions, stateAtStart } from "../../sandbox/start.js";
import type { CommandCall } from "../command.js";
import { describeFailure } from "../exit-codes.js";
import type * as flag from "../flags.js";
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
  const { loaded: first, log, onReload } = served;
  const { name } = first;
  if (first.piped !== undefined || first.files.length === 0) {
    const why =
      first.piped === undefined
        ? `${name} is a bundled scenario. Copy it with \`${io.program} show ${name} > my.yaml\`.`
        : "the scenario came from stdin.";
    log.note(`Nothing to watch: ${why}`);
    return async () => {};
  }
  let loaded = first;
  let isBroken = false;
  const reload = async () => {
    const fresh = await loadNamed(name, io);
    await watching.follow(fresh.files);
    const isChanged = JSON.stringify(fresh.scenario) !== JSON.stringify(loaded.scenario);
    const wasBroken = isBroken;
    loaded = fresh;
    isBroken = false;
    if (isChanged) {
      serveFresh(fresh, flags, served);
      await onReload();
      log.note(`Loaded ${name} again, in a new sandbox.`);
    } else if (wasBroken) {
      log.note(`${name} is valid again, unchanged.`);
    }
  };
  const { createWatch } = await import("../../node/files/watch.js");
  const watching = createWatch(() =>
    reload().catch((error) => {
      isBroken = true;
      log.problem(`${describeFailure(error, { ...flags, json: false })}The running scenario continues.`);
    }),
  );
  await watching.follow(first.files);
  return watching.close;
}

function serveFresh(fresh: LoadedScenario, flags: flag.SandboxFlags, { sandbox, onLoad, log }: Served): void {
  try {
    const { scenario, name, text } = fresh;
    const { platform, conditions } = sandbox;
    const state = stateAtStart(scenario, { name, text, platform, conditions, ...givenOptions(flags) });
    onLoad(fresh);
    enter(sandbox, state);
  } catch (error) {
    // The new sandbox is served even if one of our files cannot be written.
    if (!(error instanceof SandboxError && error.code === "state_unwritable")) throw error;
    log.problem(error.message);
  }
}
