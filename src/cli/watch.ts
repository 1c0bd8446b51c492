import { type Stats, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { OpenedScenario } from "../node/files/scenario-files.js";
import type { Logger } from "../node/logger.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { prepareReplacement, replaceScenario } from "../sandbox/start-sandbox.js";
import type { LoadedScenario } from "../scenario/scenario-source.js";
import type { CommandCall } from "./command.js";
import { describeFailure } from "./exit-codes.js";
import { openScenarioArgument } from "./scenario.js";
import type { SandboxFlags } from "./shared-flags.js";

/** What a reload of the scenario needs of a running `start`. */
interface ReloadContext {
  readonly origin: OpenedScenario["origin"];
  readonly call: Pick<CommandCall<SandboxFlags>, "flags" | "io">;
  /** The scenario that the server serves, as its files were last loaded: a reload replaces it. */
  readonly served: { loaded: LoadedScenario };
  readonly sandbox: SandboxState;
  readonly logger: Logger;
  readonly onReload: (opened: OpenedScenario) => Promise<void>;
}

/** Serves the scenario in a new sandbox each time its files change; a broken one leaves the running sandbox unchanged. Returns how to stop that. */
export function startWatching(context: ReloadContext): () => Promise<void> {
  const { origin, call, served, logger } = context;
  const { name } = served.loaded;
  if (origin !== "file") {
    logger.note(`Nothing to watch: ${name} is in no file here.`);
    return async () => {};
  }

  let isBroken = false;
  const reload = async (onFile: (file: string) => void) => {
    try {
      const opened = await openScenarioArgument(name, call.io, { onFile });
      const isChanged = await serveAgain(opened, context);
      if (isChanged) logger.note(`Loaded ${name} again, in a new sandbox.`);
      else if (isBroken) logger.note(`${name} is valid again, unchanged.`);
      isBroken = false;
    } catch (error) {
      isBroken = true;
      const failure = describeFailure(error, { ...call.flags, json: false });
      logger.problem(`${failure}The running scenario continues.`);
    }
  };
  const closing = new AbortController();
  const watching = readOnChange(reload, closing.signal);
  return async () => {
    closing.abort();
    await watching;
  };
}

/** Serves a scenario in a new sandbox if it has changed. Resolves to whether it has. */
async function serveAgain(
  opened: OpenedScenario,
  { served, sandbox, onReload }: ReloadContext,
): Promise<boolean> {
  const { loaded } = opened;
  if (JSON.stringify(loaded.scenario) === JSON.stringify(served.loaded.scenario)) {
    // Its text may have another comment now.
    served.loaded = loaded;
    return false;
  }
  const start = prepareReplacement(sandbox, loaded);
  // Before the sandbox is replaced, because a state file then saves it with this scenario.
  served.loaded = loaded;
  replaceScenario(sandbox, start);
  await onReload(opened);
  return true;
}

/** Milliseconds between two looks at files, and from a change to the next reading: an editor may still be writing. */
const pollIntervalMs = 100;

/**
 * Reads files, and again after each change of one of them, until the signal is aborted. `read` names each file right before it reads
 * it, so no change is missed: `watchFile` misses those before its first look. Looking again and again also works on network drives
 * and container volumes, and for files that are missing.
 */
export async function readOnChange(
  read: (onFile: (file: string) => void) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  // An abort rejects, which also ends the wait.
  const wait = () => sleep(pollIntervalMs, undefined, { signal }).catch(() => {});
  let followed: ReadonlyMap<string, string> = new Map();
  while (!signal.aborted) {
    const states = new Map<string, string>();
    await read((file) => states.set(file, states.get(file) ?? fileState(file)));
    // A reading that failed before its first file follows the same ones.
    if (states.size === 0) for (const file of followed.keys()) states.set(file, fileState(file));
    followed = states;

    const isUnchanged = () => [...states].every(([file, state]) => fileState(file) === state);
    while (!signal.aborted && isUnchanged()) await wait();
    await wait();
  }
}

/** The state of a file, which is another one after each change. */
function fileState(file: string): string {
  // A file that cannot be read counts as missing.
  let stats: Stats | undefined;
  try {
    stats = statSync(file);
  } catch {}
  return stats === undefined ? "missing" : `${stats.ino} ${stats.ctimeMs} ${stats.mtimeMs} ${stats.size}`;
}
