import type { KeySettings } from "../../rules/key-record.js";
import { canonicalJson } from "../../schema/json-text.js";
import { listed, quote } from "../../schema/words.js";
import { keyStateAtStart } from "../keys/key-ends.js";
import { readLimits } from "../keys/key-settings.js";
import { fieldOfKey, isLegacy, type KeyFields, type ScenarioKey } from "../keys/scenario-keys.js";
import type { Facts, ScenarioRule } from "./facts.js";

// A key that was rotated has its replacement in `replaced_by`.

/** Only a replaced key has a replacement, and a rotation could have created it (R17, R26, R37). */
const replacementsFit: ScenarioRule = (facts) => {
  const oldByReplacement = new Map<ScenarioKey, ScenarioKey>();
  for (const old of facts.keys) {
    checkReplacementExpected(old, facts);
    const replacement = replacementOf(old, facts);
    if (replacement === undefined) continue;

    const earlier = oldByReplacement.get(replacement);
    if (earlier === undefined) {
      oldByReplacement.set(replacement, old);
    } else {
      facts.addProblem({
        code: "replacement_shared",
        field: [...fieldOfKey(old), "replaced_by"],
        message: `${quote(replacement.ref)} already replaces ${quote(earlier.ref)}`,
        hint: "each rotation creates its own key (R37)",
      });
    }
    checkReplacementAlike(old, replacement, facts);
  }
};

/** Checks that a key has a replacement if its state needs one, and none if its state has none. */
function checkReplacementExpected(key: ScenarioKey, facts: Facts): void {
  const { fields } = key;
  const keyField = fieldOfKey(key);
  const { state = "active" } = fields;
  if (state === "retiring" && fields.replaced_by === undefined) {
    facts.addProblem({
      code: "replacement_missing",
      field: [...keyField, "state"],
      message: "a retiring key has a replacement, but replaced_by is missing",
      hint: "add replaced_by with the ref of the key that replaced it (R37)",
    });
  }

  const isReplaced = state === "retiring" || state === "rotated";
  // A replaced key may have expired or been revoked before its overlap ended.
  const endedInOverlap = fields.replaced_by !== undefined && (state === "expired" || state === "revoked");
  if (isReplaced || endedInOverlap) return;

  let why = `but the key is ${state}`;
  let fix = "add state: retiring or state: rotated";
  const isExpired = keyStateAtStart(fields, facts.start) === "expired";
  if (fields.state === undefined && fields.replaced_by !== undefined && isExpired) {
    why = "but the key has no state";
    fix = "add state: expired";
  }
  for (const name of ["replaced_by", "overlap_ends"] as const) {
    if (fields[name] === undefined) continue;
    facts.addProblem({
      code: "replacement_not_expected",
      field: facts.fieldToFix([...keyField, name], [...keyField, "state"]),
      pointAt: "name",
      message: `${name} is for replaced keys, ${why}`,
      hint: `${fix}, or remove the field`,
    });
  }
}

/** The replacement of a key in a state that can have one. Where two keys have one ref, nothing shows which is meant: none is found. */
function replacementOf(key: ScenarioKey, facts: Facts): ScenarioKey | undefined {
  const { state = "active", replaced_by } = key.fields;
  if (replaced_by === undefined || state === "active") return undefined;
  const hasDuplicateRefs = facts.keys.length > facts.keyByRef.size;
  return hasDuplicateRefs ? undefined : facts.keyByRef.get(replaced_by);
}

/** What a replacement has of the old key, besides its organization and environment. */
const settingNames = ["name", "scopes", "limits"] as const satisfies (keyof KeySettings)[];

/** A setting as JSON that is equal for equal settings: scopes in alphabetical order, and both limits with their defaults. */
function comparableSetting(name: keyof KeySettings, { scopes = [], ...fields }: KeyFields): string {
  if (name === "scopes") return JSON.stringify([...scopes].sort());
  if (name === "limits") return canonicalJson(readLimits(fields.limits));
  return JSON.stringify(fields.name);
}

/** Checks that a key is like the one that it replaces. */
function checkReplacementAlike(old: ScenarioKey, replacement: ScenarioKey, facts: Facts): void {
  const { fieldToFix, addProblem } = facts;
  const { ref, organization, fields } = replacement;
  const field = [...fieldOfKey(old), "replaced_by"];
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

  for (const name of settingNames) {
    if (old.fields[name] === undefined) continue;
    const newer = firstWithSetting(replacement, name, facts);
    if (newer === undefined) continue;
    if (comparableSetting(name, newer.fields) === comparableSetting(name, old.fields)) continue;
    const settingField = fieldToFix([...fieldOfKey(newer), name], [...fieldOfKey(old), name]);
    addProblem({
      code: "replacement_differs",
      field: settingField,
      message: `${name} of ${quote(newer.ref)} differs from ${quote(old.ref)}, which it replaces`,
      hint: `a replacement has the ${listed(settingNames, "and")} of the old key (R26, R37); remove ${name} from one of them`,
    });
  }
}

/** The first key with a setting, of a replacement and those after it in its rotation. A key that leaves a setting out has that of the others. */
function firstWithSetting(
  replacement: ScenarioKey,
  name: keyof KeySettings,
  facts: Facts,
): ScenarioKey | undefined {
  for (const key of rotationFrom(replacement, facts)) {
    if (key.fields[name] !== undefined) return key;
  }
  return undefined;
}

/** A key, its replacement, the replacement of that one and so on, each once: they may form a circle. */
function* rotationFrom(first: ScenarioKey, facts: Facts): Generator<ScenarioKey> {
  const passed = new Set<ScenarioKey>();
  let key: ScenarioKey | undefined = first;
  while (key !== undefined && !passed.has(key)) {
    yield key;
    passed.add(key);
    key = replacementOf(key, facts);
  }
}

/** Of a longer circle, only the first refs are shown. */
const maxRefsOfCircle = 6;

/** Replacements do not form a circle (R42: a replaced key cannot be rotated again). */
const replacementsEnd: ScenarioRule = (facts) => {
  const followed = new Set<ScenarioKey>();
  for (const start of facts.keys) {
    // From replacement to replacement, until there is none, or the next one was followed before.
    const chain: ScenarioKey[] = [];
    let next: ScenarioKey | undefined = start;
    while (next !== undefined && !followed.has(next)) {
      followed.add(next);
      chain.push(next);
      next = replacementOf(next, facts);
    }

    // A chain that ends in a key of an earlier chain has no circle of its own.
    if (next === undefined || !chain.includes(next)) continue;
    const circle = chain.slice(chain.indexOf(next));
    const refs = circle.slice(0, maxRefsOfCircle).map(({ ref }) => ref);
    if (circle.length > maxRefsOfCircle) refs.push("…");
    facts.addProblem({
      code: "replacement_cycle",
      field: [...fieldOfKey(next), "replaced_by"],
      message: `the key is replaced by itself: ${[...refs, next.ref].join(" → ")}`,
      hint: "write the ref of the key that the rotation created (R37)",
    });
  }
};

export const replacementRules: readonly ScenarioRule[] = [replacementsFit, replacementsEnd];
