import { quote } from "../../schema/words.js";
import { keyStateAtStart } from "../keys/key-ends.js";
import {
  fieldOfKey,
  isLegacy,
  type KeyFields,
  populatedKeyAt,
  type ScenarioKey,
} from "../keys/scenario-keys.js";
import type { RuleInput, ScenarioRule } from "./rule-input.js";

// A key that was rotated has its replacement in `replaced_by`. Each such ref is that of one existing key.

/** A retiring key has a replacement (R37). */
const retiringKeysAreReplaced: ScenarioRule = ({ keys, addProblem }) => {
  for (const key of keys) {
    const { state, replaced_by } = key.fields;
    if (state !== "retiring" || replaced_by !== undefined) continue;
    addProblem({
      code: "replacement_missing",
      field: [...fieldOfKey(key), "state"],
      message: "a retiring key has a replacement, but replaced_by is missing",
      hint: "add replaced_by with the ref of the key that replaced it (R37)",
    });
  }
};

/** Only a replaced key has a replacement and an overlap. */
const onlyReplacedKeysOverlap: ScenarioRule = (input) => {
  for (const key of input.keys) {
    const { fields } = key;
    if (isReplaced(fields)) continue;
    const keyField = fieldOfKey(key);
    for (const name of ["replaced_by", "overlap_ends"] as const) {
      if (fields[name] === undefined) continue;
      const { why, fix } = whyNotReplaced(fields, input);
      input.addProblem({
        code: "replacement_not_expected",
        field: input.fieldToFix([...keyField, name], [...keyField, "state"]),
        pointAt: "name",
        message: `${name} is for replaced keys, but ${why}`,
        hint: `${fix}, or remove the field`,
      });
    }
  }
};

/** Whether a key is one that was replaced, by its state and its replacement. */
function isReplaced({ state = "active", replaced_by }: KeyFields): boolean {
  switch (state) {
    case "active":
      return false;
    case "retiring":
    case "rotated":
      return true;
    case "expired":
    case "revoked":
      // It may have ended before its overlap did.
      return replaced_by !== undefined;
  }
}

/** Why a key is not replaced, and what makes it a replaced one. */
function whyNotReplaced(
  fields: KeyFields,
  { start }: RuleInput,
): { readonly why: string; readonly fix: string } {
  const { state, replaced_by } = fields;
  if (state === "expired" || state === "revoked") {
    return { why: "replaced_by is missing", fix: "add replaced_by with the ref of the key that replaced it" };
  }
  if (state === "active") {
    return { why: "the key is active", fix: "write state: retiring or state: rotated" };
  }
  const isExpired = keyStateAtStart(fields, start) === "expired";
  if (replaced_by !== undefined && isExpired) {
    return { why: "the key has no state", fix: "add state: expired" };
  }
  return { why: "the key is active", fix: "add state: retiring or state: rotated" };
}

/** A rotation could have created each replacement (R17, R37). */
const replacementsAreOfRotations: ScenarioRule = (input) => {
  const { keys, addProblem } = input;
  const oldByReplacement = new Map<string, ScenarioKey>();
  for (const old of keys) {
    const replacement = replacementOf(old, input);
    if (replacement === undefined) continue;
    const field = [...fieldOfKey(old), "replaced_by"];
    const { ref, organization, fields } = replacement;

    const earlier = oldByReplacement.get(ref);
    if (earlier === undefined) {
      oldByReplacement.set(ref, old);
    } else {
      addProblem({
        code: "replacement_shared",
        field,
        message: `${quote(ref)} already replaces ${quote(earlier.ref)}`,
        hint: "each rotation creates its own key (R37)",
      });
    }

    if (organization !== old.organization || fields.environment !== old.fields.environment) {
      addProblem({
        code: "replacement_elsewhere",
        field,
        message: `the replacement ${quote(ref)} is a ${fields.environment} key of ${quote(organization)}`,
        hint: "a replacement has the organization and the environment of the old key (R37)",
      });
    } else if (isLegacy(fields)) {
      addProblem({
        code: "replacement_legacy",
        field,
        message: `the replacement ${quote(ref)} has a legacy prefix`,
        hint: "a replacement has the current prefix (R17)",
      });
    }
  }
};

/** The replacement of a key; `undefined` for an active key, whose field `replaced_by` is the problem. */
function replacementOf({ fields }: ScenarioKey, { scenario, keyByRef }: RuleInput): ScenarioKey | undefined {
  const { replaced_by } = fields;
  if (replaced_by === undefined || !isReplaced(fields)) return undefined;
  return keyByRef.get(replaced_by) ?? populatedKeyAt(replaced_by, scenario);
}

/** Of a longer circle, only the first refs are shown. */
const maxRefsOfCircle = 6;

/** Replacements do not form a circle (R42: a replaced key cannot be rotated again). */
const replacementsEnd: ScenarioRule = (input) => {
  const followed = new Set<ScenarioKey>();
  for (const start of input.keys) {
    // From replacement to replacement, until there is none, or the next one was followed before.
    const chain: ScenarioKey[] = [];
    let next: ScenarioKey | undefined = start;
    while (next !== undefined && !followed.has(next)) {
      followed.add(next);
      chain.push(next);
      next = replacementOf(next, input);
    }

    // A chain that ends in a key of an earlier chain has no circle of its own.
    if (next === undefined || !chain.includes(next)) continue;
    const circle = chain.slice(chain.indexOf(next));
    const refs = circle.slice(0, maxRefsOfCircle).map(({ ref }) => ref);
    if (circle.length > maxRefsOfCircle) refs.push("…");
    input.addProblem({
      code: "replacement_cycle",
      field: [...fieldOfKey(next), "replaced_by"],
      message: `the key is replaced by itself: ${[...refs, next.ref].join(" → ")}`,
      hint: "write the ref of the key that the rotation created (R37)",
    });
  }
};

export const replacementRules: readonly ScenarioRule[] = [
  retiringKeysAreReplaced,
  onlyReplacedKeysOverlap,
  replacementsAreOfRotations,
  replacementsEnd,
];
