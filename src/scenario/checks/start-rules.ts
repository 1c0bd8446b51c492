import { countsAsActive, maximumActiveKeys, maximumOverlap } from "../../rules/key-state.js";
import { parseTime } from "../../rules/time.js";
import { quote } from "../../schema/words.js";
import { compareTimes, readTimeOrDuration, type TimeOrDuration, timeFrom } from "../format/times.js";
import { keyStateAtStart } from "../key-ends.js";
import { fieldOfKey, listedKeys, type ScenarioKey } from "../keys.js";
import { type FieldProblem, ProblemList } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";
import { whyEndsBeforeStart } from "./fault-rules.js";
import { assumptionsOf, type RuleInput } from "./rule-input.js";

// What only the start of the clock shows: the rules of a scenario that does not set its clock could not decide it.

/** A rule of which a start of the clock is all that it needs besides the keys. */
type KeyRule = (input: Pick<RuleInput, "keys" | "assumptions" | "clockStart" | "problems">) => void;

const latestOverlapEnd: TimeOrDuration = { kind: "duration", milliseconds: maximumOverlap };

/** An overlap lasts at most seven days (R39). */
const overlapsAreShort: KeyRule = ({ keys, clockStart, problems }) => {
  for (const key of keys) {
    const { overlap_ends, state } = key.fields;
    // The overlap of a rotated key is over: nothing shows how long it was.
    if (overlap_ends === undefined || state === "rotated") continue;
    if (compareTimes(clockStart, readTimeOrDuration(overlap_ends), latestOverlapEnd) !== "after") continue;
    const message = "the overlap is too long";
    const hint = "an overlap lasts at most 7 days (R39)";
    problems.add("overlap_out_of_range", [...fieldOfKey(key), "overlap_ends"], message, hint);
  }
};

/** The state that a key's times result in is the written one, if one is written (R38, R43). */
const statesMatchTimes: KeyRule = ({ keys, clockStart, problems }) => {
  for (const key of keys) {
    const { state } = key.fields;
    if (state === undefined) continue;
    const actual = keyStateAtStart(key.fields, clockStart);
    if (actual === "unknown" || actual === state) continue;
    const message = `the key is ${state}, but with its times ${actual}`;
    const hint = `write state: ${actual}, or another time (R38, R43)`;
    problems.add("state_contradiction", [...fieldOfKey(key), "state"], message, hint);
  }
};

/** An organization has at most five active keys in an environment (R32). */
const activeKeysWithinLimit: KeyRule = ({ keys, clockStart, assumptions, problems }) => {
  const groups = new Map<string, ScenarioKey[]>();
  for (const key of keys) {
    // By its written state, else by its times. A key whose state is unknown may have expired when the clock starts: the start asks again.
    const { state = keyStateAtStart(key.fields, clockStart) } = key.fields;
    if (state === "unknown" || !countsAsActive(state, assumptions)) continue;
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

/** The rules of keys that depend on the start of the clock. */
export const keyRulesOfTime: readonly KeyRule[] = [overlapsAreShort, statesMatchTimes, activeKeysWithinLimit];

/**
 * The problems that a scenario which does not set its clock has at a start: `clockStart`, set by an option (`isClockSet`) or the real
 * time. The rules of a scenario call what they compare with an unknown start "unknown", and find no problem; here each of them is
 * asked again. An example, at a start in 2026: six test keys of one bank with `expires: 2099-01-01T00:00:00Z` are too many (R32).
 */
export function problemsAtStart(
  scenario: Scenario,
  clockStart: number,
  isClockSet: boolean,
): readonly FieldProblem[] {
  const problems = new ProblemList();
  const keys = [...listedKeys(scenario)];
  // A key may end at a time, and not only after a duration, which counts from any start. Nearly all scenarios have no such key, and
  // tests start them often.
  let hasTime = false;
  for (const { fields } of keys) {
    for (const end of [fields.expires, fields.overlap_ends]) {
      if (end !== undefined && readTimeOrDuration(end).kind === "time") hasTime = true;
    }
  }
  if (hasTime) {
    const input = { keys, assumptions: assumptionsOf(scenario), clockStart, problems };
    for (const rule of keyRulesOfTime) rule(input);
  }
  faultsEndAfterTheyStart(scenario, clockStart, problems);
  // The steps before a start that somebody sets are due at once.
  if (!isClockSet) noStepIsPast(scenario, clockStart, problems);
  return problems.found;
}

/** Each fault ends after it starts: one of the two may be a duration from the start, or from the step that sets the fault. */
function faultsEndAfterTheyStart(
  { faults = [], timeline = [] }: Scenario,
  clockStart: number,
  problems: ProblemList,
): void {
  for (const [index, fault] of faults.entries()) {
    const problem = whyEndsBeforeStart(fault, clockStart);
    if (problem !== undefined) problems.addAt(["faults", index], problem);
  }
  for (const [index, { at, faults: faultsOfStep = [] }] of timeline.entries()) {
    const now = timeFrom(clockStart, at);
    for (const [number, fault] of faultsOfStep.entries()) {
      const problem = whyEndsBeforeStart(fault, now);
      if (problem !== undefined) problems.addAt(["timeline", index, "faults", number], problem);
    }
  }
}

/** No step of the timeline is before the start of the clock. */
function noStepIsPast({ timeline = [] }: Scenario, clockStart: number, problems: ProblemList): void {
  for (const [index, { at }] of timeline.entries()) {
    const time = parseTime(at);
    if (time === undefined || time >= clockStart) continue;
    const message = `the step is earlier (${at}) than the start of the clock`;
    const hint = "write a later time, or set clock.now";
    problems.add("timeline_order", ["timeline", index, "at"], message, hint);
    return;
  }
}
