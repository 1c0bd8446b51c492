import { resolve } from "node:path";
import type { LoadedScenario } from "../node/files/load-scenario.js";
import type { KeptState } from "../node/state.js";
import type { World } from "../sandbox/world.js";
import { listed, quote } from "../scenario/problems/words.js";
import type { FlagName, Flags } from "./flags.js";
import type { Io } from "./io.js";
import type { Log } from "./log.js";
import { givenIn } from "./open-scenario.js";

/** Opens the state that `--state` names, and says when it is one that goes on; `undefined` without the flag. */
export async function openNamedState(
  loaded: LoadedScenario,
  start: () => World,
  { flags, io, log }: { readonly flags: Flags; readonly io: Io; readonly log: Log },
): Promise<KeptState | undefined> {
  const { state: given } = flags;
  if (given === undefined) return undefined;
  const { openState } = await import("../node/state.js");
  const state = openState({ file: resolve(io.cwd, given), given }, loaded, start, givenIn(flags));
  if (state.savedAt !== undefined) log.note(goingOn(given, state.savedAt, flags));
  return state;
}

const ofNewWorlds = ["seed", "now", "frozen", "profile"] as const satisfies readonly FlagName[];

function goingOn(given: string, savedAt: number, flags: Flags): string {
  const ignored = ofNewWorlds.filter((name) => flags[name] !== undefined).map((name) => `--${name}`);
  const note = `Going on from ${quote(given)}, saved ${new Date(savedAt).toISOString()}.`;
  if (ignored.length === 0) return note;
  return `${note} It wins over ${listed(ignored, "and")}; remove it to start anew.`;
}
