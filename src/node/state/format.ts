import { SandboxError } from "../../domain/errors.js";
import { isMapping, parsedJson } from "../../domain/json.js";
import type { RuntimeState } from "../../sandbox/state.js";
import { checkScenario } from "../../scenario/parse-scenario.js";
import { describedKeys } from "../../scenario/population.js";
import { ScenarioError } from "../../scenario/problems/scenario-error.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { version } from "../package-files.js";

/** A server that was kept in a file. */
export interface SavedState {
  /** The scenario the server was started with; later another one may have run. */
  readonly startedWith: ScenarioIdentity;
  readonly own: RuntimeState;
}

/** The identity of a scenario. */
export interface ScenarioIdentity {
  readonly name: string;
  /** Of its content: a moved file has the same one, an edited file another. */
  readonly sha256: string;
}

/** The version of the format. */
const format = 2;

/** A state as the text of a file. Contains no full keys except those that the scenario pins (R35). */
export function stateText({ startedWith, own }: SavedState): string {
  return `${JSON.stringify({ svc_sandbox_state: format, version, started_with: startedWith, own })}\n`;
}

/**
 * Reads the text of a state file; `given` is its name for messages. Its scenarios are checked; what the rest lacks shows
 * when it is restored. Throws `state_unreadable`.
 */
export function parseState(text: string, given: string): SavedState {
  const state = membersOf(parsedJson(text));
  if (state.svc_sandbox_state === undefined) {
    throw unreadableState(given, "it is not a state of svc-sandbox, or only a part");
  }
  if (state.svc_sandbox_state !== format) {
    throw unreadableState(
      given,
      `it has format ${JSON.stringify(state.svc_sandbox_state)} of svc-sandbox ${JSON.stringify(state.version)}, and svc-sandbox ${version} reads format ${format}`,
    );
  }
  const startedWith = membersOf(state.started_with);
  const own = { ...membersOf(state.own), ...scenariosIn(membersOf(state.own), "own", given) } as RuntimeState;
  const texts = [own.name, startedWith.name, startedWith.sha256];
  if (!texts.every((one) => typeof one === "string" && one !== "") || !Number.isFinite(own.at)) {
    throw brokenState(given);
  }
  return { startedWith: startedWith as unknown as ScenarioIdentity, own };
}

function scenariosIn(
  { snapshot, scenario }: Readonly<Record<string, unknown>>,
  path: string,
  given: string,
): Pick<RuntimeState, "snapshot" | "scenario"> {
  const checked = (value: unknown, name: string): Scenario => {
    try {
      // A world grows with every key that is made; what could be written must be readable.
      return checkScenario(value, { mostValues: Number.POSITIVE_INFINITY });
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      const [problem] = error.problems;
      const place = [path, name, problem?.path].filter((part) => part).join(".");
      throw unreadableState(given, `its ${place} is broken: ${problem?.message}`);
    }
  };
  const found = { snapshot: checked(snapshot, "snapshot"), scenario: checked(scenario, "scenario") };
  const kept = new Set(Array.from(describedKeys(found.snapshot), ({ ref }) => ref));
  for (const { ref } of describedKeys(found.scenario)) {
    if (!kept.has(ref)) {
      throw unreadableState(given, `its scenario has a key ${JSON.stringify(ref)} that its snapshot lacks`);
    }
  }
  if (found.snapshot.clock?.now === undefined) throw brokenState(given);
  return found;
}

/** Rejects a state file with a member that svc-sandbox does not write. */
export function brokenState(given: string): SandboxError {
  return unreadableState(given, "a member of it is missing, or no value that svc-sandbox writes");
}

/** Rejects a state file for a reason. */
export function unreadableState(given: string, why: string): SandboxError {
  return new SandboxError(
    "state_unreadable",
    `Failed to go on from the state ${JSON.stringify(given)}: ${why}. Name another file with --state, or remove this one to start anew.`,
  );
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isMapping(value) ? value : {};
}
