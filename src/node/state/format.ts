import { SandboxError } from "../../domain/errors.js";
import { isoOf } from "../../sandbox/clock.js";
import { describedKeys } from "../../sandbox/scenario-keys.js";
import type { RemainingWorld } from "../../sandbox/snapshot.js";
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
  try {
    return checkState(parseJson(text));
  } catch (error) {
    if (!(error instanceof Flaw)) throw error;
    throw unreadableState(given, error.message);
  }
}

/** Refuses a state file for a reason. */
export function unreadableState(given: string, why: string): SandboxError {
  return new SandboxError(
    "state_unreadable",
    `Failed to go on from the state ${JSON.stringify(given)}: ${why}. Name another file with --state, or remove this one to start anew.`,
  );
}

class Flaw extends Error {}

// The message of JSON.parse is not repeated: it quotes the file.
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Flaw("it is not JSON, or only a part of it");
  }
}

function checkState(value: unknown): SavedState {
  const state = membersOf(value);
  if (state.svc_sandbox_state === undefined) throw new Flaw("it is JSON, but not a state of svc-sandbox");
  if (state.svc_sandbox_state !== format) {
    throw new Flaw(
      `it has format ${JSON.stringify(state.svc_sandbox_state)} of svc-sandbox ${JSON.stringify(state.version)}, and svc-sandbox ${version} reads format ${format}`,
    );
  }
  const startedWith = membersOf(state.started_with);
  const snapshot = scenarioIn(state, "world");
  const scenario = scenarioIn(state, "scenario");
  const revoked = membersOf(state.revoked_at);
  const told = state.story_steps_told ?? 0;
  if (snapshot.clock?.now === undefined) throw new Flaw("its world.clock.now is missing");
  if (!Number.isSafeInteger(told) || Number(told) < 0) throw new Flaw("its story_steps_told is not a count");
  refuseLostKeys(snapshot, scenario);
  return {
    name: textIn(state, "name"),
    savedAt: timeIn(state, "saved_at"),
    startedWith: { name: textIn(startedWith, "name"), sha256: textIn(startedWith, "sha256") },
    snapshot,
    scenario,
    revokedAt: Object.fromEntries(Object.keys(revoked).map((ref) => [ref, timeIn(revoked, ref)])),
    told: told as number,
  };
}

function scenarioIn(state: Members, name: "world" | "scenario"): Scenario {
  try {
    // A world grows with every key that is made; what could be written has to be read again.
    return checkScenario(state[name], { mostValues: Number.POSITIVE_INFINITY });
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    const [first] = error.problems;
    const more = error.problems.length - 1;
    const path = first?.path === "" ? name : `${name}.${first?.path}`;
    throw new Flaw(
      `its ${path} is broken: ${first?.message}${more > 0 ? ` (and ${more} more like it)` : ""}`,
    );
  }
}

function refuseLostKeys(snapshot: Scenario, scenario: Scenario): void {
  const there = new Set(describedKeys(snapshot).map(({ ref }) => ref));
  const lost = describedKeys(scenario).find(({ ref }) => !there.has(ref));
  if (lost !== undefined)
    throw new Flaw(`its scenario has a key ${JSON.stringify(lost.ref)} that its world lacks`);
}

type Members = Readonly<Record<string, unknown>>;

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? (value as Members) : {};
}

function textIn(members: Members, name: string): string {
  const text = members[name];
  if (typeof text === "string" && text !== "") return text;
  throw new Flaw(`its ${name} is not a text`);
}

function timeIn(members: Members, name: string): number {
  const time = parseTime(String(members[name]));
  if (time !== undefined) return time;
  throw new Flaw(`its ${name} is not a time`);
}
