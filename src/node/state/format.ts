import { SandboxError } from "../../domain/errors.js";
import { isoOf } from "../../sandbox/clock.js";
import { describedKeys } from "../../sandbox/described.js";
import type { RemainingWorld } from "../../sandbox/remaining-world.js";
import { parseTime } from "../../scenario/format/time.js";
import { checkScenario } from "../../scenario/parse-scenario.js";
import { ScenarioError } from "../../scenario/problems/scenario-error.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { version } from "../package-files.js";

/** A world that was kept in a file. Its scenario is what `reset` starts. */
export interface SavedState extends RemainingWorld {
  /** The name of the scenario that ran. */
  readonly name: string;
  /** On the wall clock (epoch milliseconds). */
  readonly savedAt: number;
  /** The scenario the server was started with; later another one may have run. */
  readonly startedWith: ScenarioIdentity;
}

/** The identity of a scenario. */
export interface ScenarioIdentity {
  readonly name: string;
  /** Of its content: a moved file has the same one, an edited file another. */
  readonly sha256: string;
}

/** The version of the format. */
const format = 1;

/** A state as the text of a file. Holds no full keys but those that the scenario pins (R35). */
export function stateText(state: SavedState): string {
  const { name, savedAt, startedWith, snapshot, scenario, revokedAt, told } = state;
  return `${JSON.stringify({
    svc_sandbox_state: format,
    version,
    name,
    saved_at: isoOf(savedAt),
    started_with: startedWith,
    world: snapshot,
    revoked_at: Object.fromEntries(Object.entries(revokedAt).map(([ref, at]) => [ref, isoOf(at)])),
    ...(told > 0 && { story_steps_told: told }),
    scenario,
  })}\n`;
}

/** Reads the text of a state file; `given` is its name for messages. Throws `state_unreadable`. */
export function parseState(text: string, given: string): SavedState {
  const unreadable = (why: string) => unreadableState(given, why);
  const state = membersOf(jsonOf(text));
  if (state.svc_sandbox_state === undefined)
    throw unreadable("it is not a state of svc-sandbox, or only a part");
  if (state.svc_sandbox_state !== format) {
    throw unreadable(
      `it has format ${JSON.stringify(state.svc_sandbox_state)} of svc-sandbox ${JSON.stringify(state.version)}, and svc-sandbox ${version} reads format ${format}`,
    );
  }
  const scenarioIn = (member: "world" | "scenario"): Scenario => {
    try {
      // A world grows with every key that is made; what could be written has to be read again.
      return checkScenario(state[member], { mostValues: Number.POSITIVE_INFINITY });
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      const [{ path, message } = { path: "", message: "" }] = error.problems;
      throw unreadable(`its ${path === "" ? member : `${member}.${path}`} is broken: ${message}`);
    }
  };
  const snapshot = scenarioIn("world");
  const scenario = scenarioIn("scenario");
  const there = describedKeys(snapshot);
  for (const { ref } of describedKeys(scenario)) {
    if (there.placeOf(ref) === undefined) {
      throw unreadable(`its scenario has a key ${JSON.stringify(ref)} that its world lacks`);
    }
  }
  const { name, story_steps_told: told = 0 } = state;
  const startedWith = membersOf(state.started_with);
  const savedAt = parseTime(String(state.saved_at));
  const revokedAt = Object.entries(membersOf(state.revoked_at)).map(
    ([ref, at]) => [ref, parseTime(String(at))] as const,
  );
  const isWhole =
    [name, startedWith.name, startedWith.sha256].every((one) => typeof one === "string" && one !== "") &&
    [savedAt, ...revokedAt.map(([, at]) => at), snapshot.clock?.now].every((time) => time !== undefined) &&
    Number.isSafeInteger(told) &&
    Number(told) >= 0;
  if (!isWhole) throw unreadable("a member of it is missing, or no value that svc-sandbox writes");
  return {
    name,
    savedAt,
    startedWith: { name: startedWith.name, sha256: startedWith.sha256 },
    snapshot,
    scenario,
    revokedAt: Object.fromEntries(revokedAt),
    told,
  } as SavedState;
}

/** Refuses a state file for a reason. */
export function unreadableState(given: string, why: string): SandboxError {
  return new SandboxError(
    "state_unreadable",
    `Failed to go on from the state ${JSON.stringify(given)}: ${why}. Name another file with --state, or remove this one to start anew.`,
  );
}

// The message of JSON.parse is not repeated: it quotes the file.
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
