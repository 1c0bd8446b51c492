import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { SandboxError } from "../domain/errors.js";
import { type LoadedScenario, loadScenario } from "../node/files/load-scenario.js";
import { openWorld } from "../node/platform.js";
import { type GivenOptions, givenOptions } from "../sandbox/runtime.js";
import type { World } from "../sandbox/world.js";
import { ScenarioError } from "../scenario/problems/scenario-error.js";
import type { Call } from "./command.js";
import type { Flags } from "./flags.js";
import { unknownWord } from "./unknown-word.js";

/** The file that is taken when no scenario is named, and the bundled scenario when it is not there. */
export const ownScenario = "svc-sandbox.yaml";
const fallbackScenario = "key-states";

/** Loads the scenario that a call names, else this folder's own, else `key-states`. */
export async function loadNamed(word: string | undefined, { io, implied }: Call): Promise<LoadedScenario> {
  const name = word ?? (existsSync(resolve(io.cwd, ownScenario)) ? ownScenario : fallbackScenario);
  try {
    return await loadScenario(name, { cwd: io.cwd });
  } catch (error) {
    if (
      error instanceof SandboxError &&
      error.code === "scenario_not_found" &&
      isFirstWord(error, name, implied)
    ) {
      throw unknownWord(name);
    }
    throw withCount(error, name);
  }
}

/** Opens a world of a loaded scenario, as the flags want it. */
export function openNamed({ scenario, name }: LoadedScenario, flags: Flags): World {
  return openWorld(scenario, { name, ...givenIn(flags) });
}

/** What the flags want of every world, whatever its scenario says. */
export function givenIn({ seed, now, frozen, profile }: Flags): GivenOptions {
  return givenOptions({ seed, now, frozen, profile });
}

/** Names the scenario and counts its problems above the list of them. */
export function withCount(error: unknown, name: string): unknown {
  if (!(error instanceof ScenarioError)) return error;
  const { length } = error.problems;
  return new SandboxError(
    "scenario_invalid",
    `Failed to load the scenario ${JSON.stringify(name)}: it has ${length === 1 ? "a problem" : `${length} problems`}.\n\n${error.message}`,
  );
}

// A word that stands where a command could stand, and is no path, may be a misspelt command.
function isFirstWord(error: SandboxError, name: string, implied: boolean): boolean {
  return implied && error.details.given === name && !/[\\/]|\.ya?ml$/i.test(name);
}
