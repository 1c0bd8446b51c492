import { countsAsActive, maximumActiveKeys, maximumOverlap } from "../../rules/key-state.js";
import { quote } from "../../schema/words.js";
import { compareTimes, readTimeOrDuration, type TimeOrDuration } from "../format/when.js";
import { isReplaced, keyStateAtStart } from "../keys/key-ends.js";
import { fieldOfKey, type KeyFields, type ScenarioKey } from "../keys/scenario-keys.js";
import type { RuleInput, ScenarioRule } from "./rule-input.js";

/** A retiring key has a replacement (R37). */
const retiringKeysAreReplaced: ScenarioRule = ({ keys, problems }) => {
  for (const key of keys) {
    const { state, replaced_by } = key.fields;
    if (state !== "retiring" || replaced_by !== undefined) continue;
    problems.add({
      code: "replacement_missing",
      field: [...fieldOfKey(key), "state"],
      message: "a retiring key has a replacement, but replaced_by is missing",
      hint: "add replaced_by with the ref of the key that replaced it (R37)",
    });
  }
};

/** Only a replaced key has a replacement and an overlap. */
const onlyReplacedKeysOverlap: ScenarioRule = ({ keys, problems }) => {
  for (const key of keys) {
    const { fields } = key;
    if (isReplaced(fields)) continue;
    const { why, fix } = whyNotReplaced(fields);
    for (const name of ["replaced_by", "overlap_ends"] as const) {
      if (fields[name] === undefined) continue;
      problems.add({
        code: "replacement_not_expected",
        field: [...fieldOfKey(key), name],
        pointAt: "name",
        message: `${name} is for replaced keys, but ${why}`,
        hint: `${fix}, or remove the field`,
      });
    }
  }
};

/** Why a key is not replaced, by its state, and what makes it a replaced one. */
function whyNotReplaced({ state }: KeyFields): { readonly why: string; readonly fix: string } {
  switch (state) {
    case undefined:
      return { why: "the key has no state", fix: "add state: retiring, rotated, expired or revoked" };
    case "active":
      return { why: "the key is active", fix: "write state: retiring, rotated, expired or revoked" };
    default:
      return {
        why: "replaced_by is missing",
        fix: "add replaced_by with the ref of the key that replaced it",
      };
  }
}

/** Only a revoked key has the time when it was revoked (R41). */
const onlyRevokedKeysHaveRevokedAt: ScenarioRule = ({ keys, problems }) => {
  for (const key of keys) {
    const { revoked_at, state } = key.fields;
    if (revoked_at === undefined || state === "revoked") continue;
    const fix = state === undefined ? "add state: revoked" : "write state: revoked";
    problems.add({
      code: "state_contradiction",
      field: [...fieldOfKey(key), "revoked_at"],
      message: `revoked_at is for revoked keys, but the key is ${state ?? "active"}`,
      hint: `${fix}, or remove the field (R41)`,
    });
  }
};

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
    problems.add({
      code: "overlap_out_of_range",
      field: [...fieldOfKey(key), "overlap_ends"],
      message: "the overlap is too long",
      hint: "an overlap lasts at most 7 days (R39)",
    });
  }
};

/** The state that a key's times result in is the written one, if one is written (R38, R43). */
const statesMatchTimes: KeyRule = ({ keys, clockStart, problems }) => {
  for (const key of keys) {
    const { state } = key.fields;
    if (state === undefined) continue;
    const actual = keyStateAtStart(key.fields, clockStart);
    if (actual === "unknown" || actual === state) continue;
    problems.add({
      code: "state_contradiction",
      field: [...fieldOfKey(key), "state"],
      message: `the key is ${state}, but with its times ${actual}`,
      hint: `write state: ${actual}, or another time (R38, R43)`,
    });
  }
};

/** An organization has at most five active keys in an environment (R32). */
const activeKeysWithinLimit: KeyRule = (input) => {
  const groups = new Map<string, ScenarioKey[]>();
  for (const key of input.keys) {
    if (!countsAsActiveAtStart(key, input)) continue;
    const id = `${key.fields.environment} ${key.organization}`;
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [key]);
    else group.push(key);
  }

  for (const active of groups.values()) {
    const [firstTooMany] = active.slice(maximumActiveKeys);
    if (firstTooMany === undefined) continue;
    const { organization, fields } = firstTooMany;
    input.problems.add({
      code: "too_many_active_keys",
      field: fieldOfKey(firstTooMany),
      pointAt: "name",
      message: `${quote(organization)} has ${active.length} active ${fields.environment} keys`,
      hint: `R32 allows ${maximumActiveKeys} per organization and environment; revoke some or use another organization`,
    });
  }
};

/** Whether a key counts as active when the clock starts (R32): by its written state, else by its times. */
function countsAsActiveAtStart(
  { fields }: ScenarioKey,
  { clockStart, assumptions }: Pick<RuleInput, "clockStart" | "assumptions">,
): boolean {
  const { state = keyStateAtStart(fields, clockStart) } = fields;
  // Such a key may have expired by then: the start asks again.
  if (state === "unknown") return false;
  return countsAsActive(state, assumptions);
}

/** The rules that depend on the start of the clock: a start asks them again if the scenario does not set its clock. */
export const keyRulesOfTime: readonly KeyRule[] = [overlapsAreShort, statesMatchTimes, activeKeysWithinLimit];

export const keyStateRules: readonly ScenarioRule[] = [
  retiringKeysAreReplaced,
  onlyReplacedKeysOverlap,
  onlyRevokedKeysHaveRevokedAt,
  ...keyRulesOfTime,
];
