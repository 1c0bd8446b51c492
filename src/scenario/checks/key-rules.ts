import { type KeyStateName, maximumOverlap } from "../../rules/key-state.js";
import { listed, quote } from "../../schema/words.js";
import { compareTimes, readTimeOrDuration, type TimeOrDuration } from "../format/when.js";
import { keyStateAtStart } from "../keys/key-ends.js";
import { defaultScopes } from "../keys/key-settings.js";
import { fieldOfKey } from "../keys/scenario-keys.js";
import type { ScenarioRule } from "./rule-input.js";

// The fields of a key agree with each other. Its secret and its replacement have files of their own.

/** The scopes of `/me` and of keys are known, and no key has a scope twice. */
const scopesAreKnown: ScenarioRule = (input) => {
  const { scenario, keys, assumptions, addProblem } = input;
  const knownScopes = assumptions.scopes;
  const needed = assumptions.me_scope;
  if (needed !== null && !knownScopes.includes(needed)) {
    const field = scenario.assumptions?.me_scope === undefined ? "scopes" : "me_scope";
    addProblem({
      code: "unknown_scope",
      field: ["assumptions", field],
      message: `me_scope is ${quote(needed)}, which is not one of assumptions.scopes`,
      hint: "set me_scope to one of them, or to null for no scope",
    });
  }

  for (const key of keys) {
    const { fields } = key;
    const keyField = fieldOfKey(key);
    const { scopes = defaultScopes } = fields;
    for (const [index, scope] of scopes.entries()) {
      const field = [...keyField, "scopes", index];
      if (!knownScopes.includes(scope)) {
        addProblem({
          code: "unknown_scope",
          field,
          message: `there is no scope ${quote(scope)}`,
          hint: `give the key ${listed(knownScopes, "or")}, or add the scope to assumptions.scopes`,
        });
      }
      if (scopes.indexOf(scope) < index) {
        addProblem({
          code: "duplicate_scope",
          field,
          message: `${quote(scope)} is listed twice`,
          hint: "list it once",
        });
      }
    }
  }
};

/** The requests of a minute are also requests of its day (R24). */
const usageAddsUp: ScenarioRule = (input) => {
  for (const key of input.keys) {
    const { fields } = key;
    const keyField = fieldOfKey(key);
    const { usage } = fields;
    // In a snapshot, some requests of a sliding minute may belong to the day before.
    if (usage === undefined || usage.counted_at !== undefined) continue;

    const minute = usage.this_minute ?? 0;
    const today = usage.today ?? minute;
    if (today >= minute) continue;
    input.addProblem({
      code: "usage_contradiction",
      field: input.fieldToFix([...keyField, "usage", "today"], [...keyField, "usage", "this_minute"]),
      message: `today is ${today}, less than this_minute, which is ${minute}`,
      hint: "the requests of this minute also count for today (R24)",
    });
  }
};

/** Only a revoked key has the time when it was revoked (R41). */
const onlyRevokedKeysHaveRevokedAt: ScenarioRule = ({ keys, fieldToFix, addProblem }) => {
  for (const key of keys) {
    const { revoked_at, state } = key.fields;
    if (revoked_at === undefined || state === "revoked") continue;
    const keyField = fieldOfKey(key);
    const fix = state === undefined ? "add state: revoked" : "write state: revoked";
    addProblem({
      code: "state_contradiction",
      field: fieldToFix([...keyField, "revoked_at"], [...keyField, "state"]),
      message: `revoked_at is for revoked keys, but the key is ${state ?? "active"}`,
      hint: `${fix}, or remove the field (R41)`,
    });
  }
};

const latestOverlapEnd: TimeOrDuration = { kind: "duration", milliseconds: maximumOverlap };

/** An overlap lasts at most seven days (R39). */
const overlapsAreShort: ScenarioRule = ({ keys, start, addProblem }) => {
  for (const key of keys) {
    const { overlap_ends, state } = key.fields;
    // The overlap of a rotated key is over: nothing shows how long it was.
    if (overlap_ends === undefined || state === "rotated") continue;
    if (compareTimes(start, readTimeOrDuration(overlap_ends), latestOverlapEnd) !== "after") continue;
    addProblem({
      code: "overlap_out_of_range",
      field: [...fieldOfKey(key), "overlap_ends"],
      message: "the overlap is too long",
      hint: "an overlap lasts at most 7 days (R39)",
    });
  }
};

/** The state that a key's times result in is the written one, if one is written (R38, R43). */
const statesMatchTimes: ScenarioRule = ({ keys, start, fieldToFix, addProblem }) => {
  for (const key of keys) {
    const { state } = key.fields;
    if (state === undefined) continue;
    const actual = keyStateAtStart(key.fields, start);
    if (actual === "unknown" || actual === state) continue;

    const keyField = fieldOfKey(key);
    addProblem({
      code: "state_contradiction",
      field: fieldToFix([...keyField, wrongTime(actual, state)], [...keyField, "state"]),
      message: `the key is ${state}, but with its times ${actual}`,
      hint: `write state: ${actual}, or another time (R38, R43)`,
    });
  }
};

/**
 * The time that gives a key another state than the written one:
 *
 *   written                  with its times   the time
 *   expired                  retiring         `expires`: it expires later
 *   active, rotated          retiring         `overlap_ends`: the overlap ends later
 *   any                      rotated          `overlap_ends`: the overlap is over
 *   any                      active, expired  `expires`
 */
function wrongTime(actual: KeyStateName, written: KeyStateName): "overlap_ends" | "expires" {
  const isOfOverlap = actual === "rotated" || (actual === "retiring" && written !== "expired");
  return isOfOverlap ? "overlap_ends" : "expires";
}

export const keyRules: readonly ScenarioRule[] = [
  scopesAreKnown,
  usageAddsUp,
  onlyRevokedKeysHaveRevokedAt,
  overlapsAreShort,
  statesMatchTimes,
];
