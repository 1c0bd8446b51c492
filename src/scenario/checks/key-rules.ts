import type { KeySettings } from "../../rules/key-state.js";
import { canonicalJson } from "../../schema/json-text.js";
import { listed, quote } from "../../schema/words.js";
import { isReplaced, rotationsOf } from "../key-ends.js";
import {
  defaultScopes,
  fieldOfKey,
  isLegacy,
  type KeyFields,
  populationOf,
  readLimits,
  type ScenarioKey,
} from "../keys.js";
import type { RuleInput, ScenarioRule } from "./rule-input.js";

/** The scope of `/me` is a known one. */
const scopeOfMeIsKnown: ScenarioRule = ({ scenario, assumptions, problems }) => {
  const { me_scope, scopes } = assumptions;
  if (me_scope === null || scopes.includes(me_scope)) return;
  const written = scenario.assumptions?.me_scope === undefined ? "scopes" : "me_scope";
  const message = `me_scope is ${quote(me_scope)}, which is not one of assumptions.scopes`;
  const hint = "set me_scope to one of them, or to null for no scope";
  problems.add("unknown_scope", ["assumptions", written], message, hint);
};

/** The scopes of keys are known, and no key has a scope twice. */
const scopesOfKeysAreKnown: ScenarioRule = ({ keys, assumptions, problems }) => {
  const knownScopes = assumptions.scopes;
  for (const key of keys) {
    const { scopes = [] } = key.fields;
    for (const [index, scope] of scopes.entries()) {
      const field = [...fieldOfKey(key), "scopes", index];
      if (!knownScopes.includes(scope)) {
        const message = `there is no scope ${quote(scope)}`;
        const hint = `give the key ${listed(knownScopes, "or")}, or add the scope to assumptions.scopes`;
        problems.add("unknown_scope", field, message, hint);
      }
      if (scopes.indexOf(scope) < index) {
        problems.add("duplicate_scope", field, `${quote(scope)} is listed twice`, "list it once");
      }
    }
  }
};

/** The requests of a minute are also requests of its day (R24). */
const usageAddsUp: ScenarioRule = ({ keys, problems }) => {
  for (const key of keys) {
    const { usage } = key.fields;
    if (usage === undefined) continue;

    const minute = usage.this_minute ?? 0;
    const today = usage.today ?? minute;
    if (today >= minute) continue;
    const message = `today is ${today}, less than this_minute, which is ${minute}`;
    const hint = "the requests of this minute also count for today (R24)";
    problems.add("usage_contradiction", [...fieldOfKey(key), "usage", "today"], message, hint);
  }
};

/** A retiring key has a replacement (R37). */
const retiringKeysAreReplaced: ScenarioRule = ({ keys, problems }) => {
  for (const key of keys) {
    const { state, replaced_by } = key.fields;
    if (state !== "retiring" || replaced_by !== undefined) continue;
    const message = "a retiring key has a replacement, but replaced_by is missing";
    const hint = "add replaced_by with the ref of the key that replaced it (R37)";
    problems.add("replacement_missing", [...fieldOfKey(key), "state"], message, hint);
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
      const message = `${name} is for replaced keys, but ${why}`;
      const hint = `${fix}, or remove the field`;
      problems.add("replacement_not_expected", [...fieldOfKey(key), name], message, hint, "name");
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

const rulesOfKeys: readonly ScenarioRule[] = [
  scopeOfMeIsKnown,
  scopesOfKeysAreKnown,
  usageAddsUp,
  retiringKeysAreReplaced,
  onlyReplacedKeysOverlap,
];

// A key that was rotated has its replacement in `replaced_by`. Here, each such ref is that of one existing key, and only replaced
// keys have one.

/** A rotation could have created each replacement (R17, R37). */
const replacementsAreOfRotations: ScenarioRule = (input) => {
  const { keys, problems } = input;
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
      const message = `${quote(ref)} already replaces ${quote(earlier.ref)}`;
      problems.add("replacement_shared", field, message, "each rotation creates its own key (R37)");
    }

    if (organization !== old.organization || fields.environment !== old.fields.environment) {
      problems.add(
        "replacement_elsewhere",
        field,
        `the replacement ${quote(ref)} is a ${fields.environment} key of ${quote(organization)}`,
        "a replacement has the organization and the environment of the old key (R37)",
      );
    } else if (isLegacy(fields)) {
      const message = `the replacement ${quote(ref)} has a legacy prefix`;
      problems.add("replacement_legacy", field, message, "a replacement has the current prefix (R17)");
    }
  }
};

function replacementOf({ fields }: ScenarioKey, { keyOf }: RuleInput): ScenarioKey | undefined {
  return fields.replaced_by === undefined ? undefined : keyOf(fields.replaced_by);
}

/** Of a longer circle, only the first refs are shown. */
const maxRefsOfCircle = 6;

/** Replacements do not form a circle (R42: a replaced key cannot be rotated again). */
const replacementsHaveNoCircle: ScenarioRule = (input) => {
  const followed = new Set<ScenarioKey>();
  for (const key of input.keys) {
    const circle = circleFrom(key, followed, input);
    const [first] = circle;
    if (first === undefined) continue;

    const refs = circle.slice(0, maxRefsOfCircle).map(({ ref }) => ref);
    if (circle.length > maxRefsOfCircle) refs.push("…");
    const message = `the key is replaced by itself: ${[...refs, first.ref].join(" → ")}`;
    const hint = "write the ref of the key that the rotation created (R37)";
    input.problems.add("replacement_cycle", [...fieldOfKey(first), "replaced_by"], message, hint);
  }
};

/** The circle that the replacements after a key lead into; empty if they end. A key that was `followed` before is not followed again. */
function circleFrom(key: ScenarioKey, followed: Set<ScenarioKey>, input: RuleInput): readonly ScenarioKey[] {
  const chain: ScenarioKey[] = [];
  let next: ScenarioKey | undefined = key;
  while (next !== undefined && !followed.has(next)) {
    followed.add(next);
    chain.push(next);
    next = replacementOf(next, input);
  }
  // A chain that leads to a key of an earlier chain has no circle of its own.
  if (next === undefined || !chain.includes(next)) return [];
  return chain.slice(chain.indexOf(next));
}

const rulesOfReplacements: readonly ScenarioRule[] = [replacementsAreOfRotations, replacementsHaveNoCircle];

/** What a replacement has of the old key, besides its organization and environment. */
const settingNames = ["name", "scopes", "limits"] as const satisfies (keyof KeySettings)[];

/** The keys of a rotation have the same settings (R26, R37). A key that leaves a setting out has that of the others. */
const settingsAreShared: ScenarioRule = ({ keys, problems }) => {
  for (const rotation of rotationsOf(keys)) {
    for (const name of settingNames) {
      const withSetting = rotation.filter(({ fields }) => fields[name] !== undefined);
      for (const [index, old] of withSetting.entries()) {
        const newer = withSetting[index + 1];
        if (newer === undefined) continue;
        if (comparableSetting(name, newer.fields) === comparableSetting(name, old.fields)) continue;
        problems.add(
          "replacement_differs",
          [...fieldOfKey(newer), name],
          `${name} of ${quote(newer.ref)} differs from ${quote(old.ref)}, which it replaces`,
          `a replacement has the ${listed(settingNames, "and")} of the old key (R26, R37); remove ${name} from one of them`,
        );
      }
    }
  }
};

/** A setting as JSON that is equal for equal settings: scopes in alphabetical order, and both limits with their defaults. */
function comparableSetting(name: keyof KeySettings, { scopes = [], ...fields }: KeyFields): string {
  if (name === "scopes") return JSON.stringify([...scopes].sort());
  if (name === "limits") return canonicalJson(readLimits(fields.limits));
  return JSON.stringify(fields.name);
}

/** A key that writes no scopes, like the others of its rotation, has the default ones, and so has each key of the population: they are known. */
const defaultScopesAreKnown: ScenarioRule = ({ scenario, keys, assumptions, problems }) => {
  const { scopes: known } = assumptions;
  const unknown = defaultScopes.find((scope) => !known.includes(scope));
  if (unknown === undefined) return;

  for (const rotation of rotationsOf(keys)) {
    if (rotation.some(({ fields }) => fields.scopes !== undefined)) continue;
    const message = `the scope ${quote(unknown)} of a key that writes none is not one of assumptions.scopes`;
    const hint = `give the key ${listed(known, "or")}, or add the scope to assumptions.scopes`;
    problems.add("unknown_scope", [...fieldOfKey(rotation[0]), "scopes"], message, hint);
  }
  const { organizations, keysEach } = populationOf(scenario);
  if (organizations * keysEach > 0) {
    const message = `the scope ${quote(unknown)} of the keys of a population is not one of assumptions.scopes`;
    problems.add("unknown_scope", ["population"], message, "add it to assumptions.scopes, or list the keys");
  }
};

const rulesOfRotations: readonly ScenarioRule[] = [settingsAreShared, defaultScopesAreKnown];

/** The rules of single keys, of a key and its replacement, and of whole rotations: each rely on those before. */
export const keyRules = {
  ofKeys: rulesOfKeys,
  ofReplacements: rulesOfReplacements,
  ofRotations: rulesOfRotations,
};
