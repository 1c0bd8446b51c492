import {
  countsAsActive,
  type KeySettings,
  maximumActiveKeys,
  maximumOverlap,
  parseApiKey,
  prefixOf,
} from "../../rules/api-key.js";
import { canonicalJson } from "../../schema/json.js";
import { listed, quote } from "../../schema/words.js";
import { fieldOfKey, isLegacy, type KeyFields, type ScenarioKey, sharedValues } from "../described-keys.js";
import { scenarioLimits } from "../format/fields.js";
import { defaultScopes, keyStateAtStart, readSettings } from "../format/key-settings.js";
import { populationOf } from "../population.js";
import { type Facts, type ScenarioRule, timeSince } from "./facts.js";

/** The scopes of `/me` and of keys are known, and no key has a scope twice. */
const scopesFit: ScenarioRule = (facts) => {
  const { scenario, keys, assumptions, addProblem } = facts;
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
    const path = fieldOfKey(key);
    const { scopes = defaultScopes } = fields;
    for (const [index, scope] of scopes.entries()) {
      const field = [...path, "scopes", index];
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
const usageAddsUp: ScenarioRule = (facts) => {
  for (const key of facts.keys) {
    const { fields } = key;
    const path = fieldOfKey(key);
    const { usage } = fields;
    // In a snapshot, some requests of a sliding minute may belong to the day before.
    if (usage === undefined || usage.counted_at !== undefined) continue;

    const minute = usage.this_minute ?? 0;
    const today = usage.today ?? minute;
    if (today >= minute) continue;
    facts.addProblem({
      code: "usage_contradiction",
      field: facts.fieldToFix([...path, "usage", "today"], [...path, "usage", "this_minute"]),
      message: `today is ${today}, less than this_minute, which is ${minute}`,
      hint: "the requests of this minute also count for today (R24)",
    });
  }
};

/** A key's times agree with its state, and an overlap lasts at most seven days (R38, R39, R43). */
const timesFitState: ScenarioRule = (facts) => {
  const { keys, start, fieldToFix, addProblem } = facts;
  for (const key of keys) {
    const { fields } = key;
    const path = fieldOfKey(key);
    const { state } = fields;
    if (fields.revoked_at !== undefined && state !== "revoked") {
      addProblem({
        code: "state_contradiction",
        field: fieldToFix([...path, "revoked_at"], [...path, "state"]),
        message: `revoked_at is for revoked keys, but the key is ${state ?? "active"}`,
        hint: "add state: revoked, or remove the field (R41)",
      });
    }

    // The time left of an overlap: of a rotated key, none.
    const overlap = timeSince(start, fields.overlap_ends);
    if (overlap !== undefined && overlap > maximumOverlap && state !== "rotated") {
      addProblem({
        code: "overlap_out_of_range",
        field: [...path, "overlap_ends"],
        message: "the overlap is too long",
        hint: "an overlap lasts at most 7 days (R39)",
      });
    }

    // A key without a state has the one that its times result in.
    if (state === undefined) continue;
    const actual = keyStateAtStart(fields, start);
    if (actual === "unknown" || actual === state) continue;
    // The field to change is the time that results in another state.
    const isByExpiry = actual === "expired" || fields.overlap_ends === undefined;
    const timeName = isByExpiry ? "expires" : "overlap_ends";
    addProblem({
      code: "state_contradiction",
      field: fieldToFix([...path, timeName], [...path, "state"]),
      message: `the key is ${state}, but with its times ${actual}`,
      hint: `write state: ${actual}, or another time (R38, R43)`,
    });
  }
};

/** Counts the keys that a sandbox starts with. Keys created at run time, which snapshots write as hashes, do not count. */
function countedKeys(facts: Facts): { populated: number; count: number } {
  const { organizations, keysEach } = populationOf(facts.scenario);
  const populated = organizations * keysEach;
  const written = facts.keys.filter(({ fields }) => fields.sha256 === undefined).length;
  return { populated, count: populated + written };
}

/** A scenario's keys fit in memory. */
const keysWithinMaximum: ScenarioRule = (facts) => {
  const { populated, count } = countedKeys(facts);
  if (count <= scenarioLimits.keys) return;

  let field = "organizations";
  let hint = "remove keys";
  if (populated > 0) {
    field = "population";
    hint = "lower population.organizations or population.keys_per_organization";
  }
  facts.addProblem({
    code: "too_many_keys",
    field: [field],
    message: `the scenario has ${count} keys; the maximum is ${scenarioLimits.keys}`,
    hint,
  });
};

/** An organization has at most five active keys in an environment (R32). */
const activeKeysWithinLimit: ScenarioRule = (facts) => {
  const groups = new Map<string, ScenarioKey[]>();
  for (const key of facts.keys) {
    if (!countsAsActiveAtStart(key, facts)) continue;
    const id = `${key.fields.environment} ${key.organization}`;
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [key]);
    else group.push(key);
  }

  for (const active of groups.values()) {
    const tooMany = active[maximumActiveKeys];
    if (tooMany === undefined) continue;
    const { organization, fields } = tooMany;
    facts.addProblem({
      code: "too_many_active_keys",
      field: fieldOfKey(tooMany),
      pointAt: "key",
      message: `${quote(organization)} has ${active.length} active ${fields.environment} keys`,
      hint: `R32 allows ${maximumActiveKeys} per organization and environment; revoke some or use another organization`,
    });
  }
};

/** Whether a key counts when the clock starts. One that may have expired by then does not: the real time decides. */
function countsAsActiveAtStart(key: ScenarioKey, facts: Facts): boolean {
  const { state = "active" } = key.fields;
  const stateAtStart = keyStateAtStart(key.fields, facts.start);
  if (stateAtStart !== "unknown") return countsAsActive(stateAtStart, facts.assumptions);
  return state !== "active" && countsAsActive(state, facts.assumptions);
}

/** A pinned secret or id is unique; a secret is well-formed and agrees with the key's fields (R3, R10, R16). */
const secretsFit: ScenarioRule = (facts) => {
  const { scenario, keys, fieldToFix, addProblem } = facts;
  // To compare more keys than are allowed would take long.
  if (countedKeys(facts).count <= scenarioLimits.keys) {
    for (const problem of sharedValues(scenario)) addProblem({ ...problem, pointAt: "key" });
  }

  for (const key of keys) {
    const { fields } = key;
    const path = fieldOfKey(key);
    const { secret, environment } = fields;
    if (secret === undefined) continue;
    const parsed = parseApiKey(secret);
    const prefix = prefixOf(environment, isLegacy(fields));
    if (parsed === undefined) {
      addProblem({
        code: "secret_malformed",
        field: [...path, "secret"],
        message: "the secret is not a well-formed key (R10)",
        hint: `start it with ${prefix}, followed by letters, digits, _ and -`,
      });
    } else if (parsed.prefix !== prefix) {
      addProblem({
        code: "secret_mismatch",
        field: fieldToFix([...path, "secret"], [...path, "environment"], [...path, "legacy"]),
        message: `the secret starts with ${parsed.prefix}, but environment and legacy require ${prefix}`,
        hint: `start it with ${prefix} (R3, R16), or change the other fields`,
      });
    }
  }
};

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
  const path = fieldOfKey(key);
  const { state = "active" } = fields;
  if (state === "retiring" && fields.replaced_by === undefined) {
    facts.addProblem({
      code: "replacement_missing",
      field: [...path, "state"],
      message: "a retiring key has a replacement, but replaced_by is missing",
      hint: "add replaced_by with the ref of the key that replaced it (R37)",
    });
  }

  const isReplaced = state === "retiring" || state === "rotated";
  // A replaced key may have expired or been revoked before its overlap ended.
  const endedInOverlap = fields.replaced_by !== undefined && (state === "expired" || state === "revoked");
  if (isReplaced || endedInOverlap) return;

  for (const name of ["replaced_by", "overlap_ends"] as const) {
    if (fields[name] === undefined) continue;
    facts.addProblem({
      code: "replacement_not_expected",
      field: facts.fieldToFix([...path, name], [...path, "state"]),
      pointAt: "key",
      message: `${name} is for replaced keys, but the key is ${state}`,
      hint: "add state: retiring or state: rotated, or remove the field",
    });
  }
}

/** The key that replaces another one, if that may be replaced. Found only where no two keys have one ref: it may be either. */
function replacementOf(key: ScenarioKey, facts: Facts): ScenarioKey | undefined {
  const { state = "active", replaced_by } = key.fields;
  if (replaced_by === undefined || state === "active") return undefined;
  const hasDuplicateRefs = facts.keys.length > facts.keyByRef.size;
  return hasDuplicateRefs ? undefined : facts.keyByRef.get(replaced_by);
}

/** What a replacement has of the old key, besides its organization and environment. */
const settingNames = ["name", "scopes", "limits"] as const satisfies (keyof KeySettings)[];

/** Settings that are equal as JSON if they are the same: scopes in alphabetical order, and both limits. */
function comparableSettings(fields: KeyFields): KeySettings {
  const { name, scopes, limits } = readSettings(fields, () => "");
  return { name, scopes: [...scopes].sort(), limits };
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

  const before = comparableSettings(old.fields);
  const after = comparableSettings(fields);
  for (const name of settingNames) {
    // A setting that one of the two leaves out is the other's.
    if (old.fields[name] === undefined || fields[name] === undefined) continue;
    if (canonicalJson(before[name]) === canonicalJson(after[name])) continue;
    const settingField = fieldToFix([...fieldOfKey(replacement), name], [...fieldOfKey(old), name]);
    addProblem({
      code: "replacement_differs",
      field: settingField,
      message: `${name} of ${quote(ref)} differs from ${quote(old.ref)}, which it replaces`,
      hint: `a replacement has the ${listed(settingNames, "and")} of the old key (R26, R37); remove ${name} from one of them`,
    });
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

export const keyRules: readonly ScenarioRule[] = [
  scopesFit,
  usageAddsUp,
  timesFitState,
  keysWithinMaximum,
  activeKeysWithinLimit,
  secretsFit,
  replacementsFit,
  replacementsEnd,
];
