import { type KeyStateName, keyStateAt, maximumActiveKeys, maximumOverlap } from "../../rules/key-state.js";
import { quote } from "../../schema/words.js";
import { timeFrom } from "../format/times.js";
import { endsOf } from "../key-ends.js";
import { fieldOfKey, type KeyFields, listedKeys, type ScenarioKey } from "../keys.js";
import { type FieldProblem, ProblemList } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";
import { checkWindows } from "./fault-rules.js";
import type { RuleInput } from "./rule-input.js";

// The rules that depend on when the clock starts.

type StartRule = (
  input: Pick<RuleInput, "scenario" | "keys" | "problems"> & { readonly start: number },
) => void;

/** An overlap lasts at most seven days (R39). */
const overlapsAreShort: StartRule = ({ keys, start, problems }) => {
  for (const key of keys) {
    const { overlap_ends, state } = key.fields;
    // The overlap of a rotated key is over: nothing shows how long it was.
    if (overlap_ends === undefined || state === "rotated") continue;
    if (timeFrom(start, overlap_ends) <= start + maximumOverlap) continue;
    const message = "the overlap is too long";
    const hint = "an overlap lasts at most 7 days (R39)";
    problems.add("overlap_out_of_range", [...fieldOfKey(key), "overlap_ends"], message, hint);
  }
};

/** The state of a key when the clock starts. */
function keyStateAtStart(fields: KeyFields, start: number): KeyStateName {
  return keyStateAt(endsOf(fields, start), start);
}

/** The state that a key's times result in is the written one, if one is written (R38, R43). */
const statesMatchTimes: StartRule = ({ keys, start, problems }) => {
  for (const key of keys) {
    const { state } = key.fields;
    const actual = keyStateAtStart(key.fields, start);
    if (state === undefined || actual === state) continue;
    const message = `the key is ${state}, but with its times ${actual}`;
    const hint = `write state: ${actual}, or another time (R38, R43)`;
    problems.add("state_contradiction", [...fieldOfKey(key), "state"], message, hint);
  }
};

/** An organization has at most five active keys in an environment (R32). */
const activeKeysWithinLimit: StartRule = ({ keys, start, problems }) => {
  const groups = new Map<string, ScenarioKey[]>();
  for (const key of keys) {
    const { state = keyStateAtStart(key.fields, start) } = key.fields;
    if (state !== "active") continue;
    const id = `${key.fields.environment} ${key.organization}`;
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [key]);
    else group.push(key);
  }

  for (const active of groups.values()) {
    const [firstTooMany] = active.slice(maximumActiveKeys);
    if (firstTooMany === undefined) continue;
    const { organization, fields } = firstTooMany;
    problems.add(
      "too_many_active_keys",
      fieldOfKey(firstTooMany),
      `${quote(organization)} has ${active.length} active ${fields.environment} keys`,
      `R32 allows ${maximumActiveKeys} per organization and environment; revoke some or use another organization`,
      "name",
    );
  }
};

/** Each fault ends after it starts. */
const faultsEnd: StartRule = ({ scenario, start, problems }) => {
  checkWindows(scenario.faults ?? [], ["faults"], start, problems);
  for (const [index, { at, faults = [] }] of (scenario.timeline ?? []).entries()) {
    checkWindows(faults, ["timeline", index, "faults"], timeFrom(start, at), problems);
  }
};

/** No step of the timeline is earlier than a step before it, or than the start. */
const timelineIsInOrder: StartRule = ({ scenario, start, problems }) => {
  let earliest = start;
  for (const [index, { at }] of (scenario.timeline ?? []).entries()) {
    const time = timeFrom(start, at);
    if (time < earliest) {
      const message = `the step is earlier (${at}) than the one before it, or the start of the clock`;
      const hint = "write a later time, sort the steps by time, or set clock.now";
      problems.add("timeline_order", ["timeline", index, "at"], message, hint);
      return;
    }
    earliest = time;
  }
};

const startRules: readonly StartRule[] = [
  overlapsAreShort,
  statesMatchTimes,
  activeKeysWithinLimit,
  faultsEnd,
];

/**
 * The problems of a scenario whose clock starts at `start`. `allowsEarlierSteps`: whether steps of the timeline may be before it; they
 * are due at once then.
 */
export function problemsAtStart(
  scenario: Scenario,
  start: number,
  allowsEarlierSteps = false,
): readonly FieldProblem[] {
  const problems = new ProblemList();
  const input = {
    scenario,
    keys: [...listedKeys(scenario)],
    start,
    problems,
  };
  for (const rule of startRules) rule(input);
  if (!allowsEarlierSteps) timelineIsInOrder(input);
  return problems.found;
}
