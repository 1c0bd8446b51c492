import {
  countsAsActive,
  defaultScopes,
  type KeySettings,
  maximumActiveKeys,
  maximumOverlap,
  parseApiKey,
  prefixOf,
} from "../../rules/api-key.js";
import { canonicalJson } from "../../rules/schema/json.js";
import { listed, quote } from "../../rules/schema/words.js";
import { isLegacy, sharedValues, type WrittenKey } from "../described-keys.js";
import { scenarioLimits } from "../format/fields.js";
import { keyStateAtStart } from "../format/key-settings.js";
import { populationOf } from "../population.js";
import type { Facts, ScenarioRule } from "./facts.js";

/** The scopes of `/me` and of keys are known, and no key has a scope twice. */
const scopesFit: ScenarioRule = ({ scenario, keys, assumptions, addProblem }) => {
  const { scopes: known, me_scope: needed } = assumptions;
  if (needed !== null && !known.includes(needed)) {
    const field = scenario.assumptions?.me_scope === undefined ? "scopes" : "me_scope";
    const message = `me_scope is ${quote(needed)}, which is not one of assumptions.scopes`;
    const hint = "set me_scope to one of them, or to null for no scope";
    addProblem({ code: "unknown_scope", field: ["assumptions", field], message, hint });
  }
  for (const { path, fields } of keys) {
    const { scopes = defaultScopes } = fields;
    for (const [index, scope] of scopes.entries()) {
      const field = [...path, "scopes", index];
      if (!known.includes(scope)) {
        const hint = `give the key ${listed(known, "or")}, or add the scope to assumptions.scopes`;
        addProblem({ code: "unknown_scope", field, message: `there is no scope ${quote(scope)}`, hint });
      }
      if (scopes.indexOf(scope) === index) continue;
      const message = `${quote(scope)} is listed twice`;
      addProblem({ code: "duplicate_scope", field, message, hint: "list it once" });
    }
  }
};

const usageAddsUp: ScenarioRule = ({ keys, latest, addProblem }) => {
  for (const { path, fields } of keys) {
    const { this_minute: minute = 0, today = minute, counted_at: countedAt } = fields.usage ?? {};
    // In a snapshot, some requests of a sliding minute may belong to the day before.
    if (today >= minute || countedAt !== undefined) continue;
    const message = `today is ${today}, less than this_minute, which is ${minute}`;
    const hint = "the requests of this minute also count for today (R24)";
    const field = latest([...path, "usage", "today"], [...path, "usage", "this_minute"]);
    addProblem({ code: "usage_contradiction", field, message, hint });
  }
};

/** A key's times agree with its state, and an overlap lasts at most seven days (R38, R39, R43). */
const timesFitState: ScenarioRule = (facts) => {
  const { keys, start, fromStart, latest, addProblem } = facts;
  for (const { path, fields } of keys) {
    const { state, overlap_ends: overlap } = fields;
    if (fields.revoked_at !== undefined && state !== "revoked") {
      const message = `revoked_at is for revoked keys, but the key is ${state ?? "active"}`;
      const field = latest([...path, "revoked_at"], [...path, "state"]);
      const hint = "add state: revoked, or remove the field (R41)";
      addProblem({ code: "state_contradiction", field, message, hint });
    }
    if (state !== "rotated" && (fromStart(overlap) ?? 0) > maximumOverlap) {
      const field = [...path, "overlap_ends"];
      const hint = "an overlap lasts at most 7 days (R39)";
      addProblem({ code: "overlap_out_of_range", field, message: "the overlap is too long", hint });
    }
    const actual = state && keyStateAtStart(fields, start);
    if (actual === undefined || actual === state) continue;
    const end = actual === "expired" || overlap === undefined ? "expires" : "overlap_ends";
    const field = latest([...path, end], [...path, "state"]);
    const message = `the key is ${state}, but with its times ${actual}`;
    const hint = `write state: ${actual}, or another time (R38, R43)`;
    addProblem({ code: "state_contradiction", field, message, hint });
  }
};

function countKeys({ scenario, keys }: Facts) {
  const { organizations, keysEach } = populationOf(scenario);
  const populated = organizations * keysEach;
  return { populated, count: populated + keys.filter(({ fields }) => fields.sha256 === undefined).length };
}

/** A scenario's keys fit in memory. Keys created at run time, which snapshots write as hashes, do not count. */
const keysWithinMaximum: ScenarioRule = (facts) => {
  const { populated, count } = countKeys(facts);
  if (count <= scenarioLimits.keys) return;
  const { addProblem } = facts;
  const message = `the scenario has ${count} keys; the maximum is ${scenarioLimits.keys}`;
  const hint =
    populated > 0 ? "lower population.organizations or population.keys_per_organization" : "remove keys";
  const field = [populated > 0 ? "population" : "organizations"];
  addProblem({ code: "too_many_keys", field, message, hint });
};

/** An organization has at most five active keys in an environment (R32). */
const activeKeysWithinLimit: ScenarioRule = (facts) => {
  const groups = new Map<string, WrittenKey[]>();
  for (const key of facts.keys.filter((one) => mayCountAsActive(one, facts))) {
    const id = `${key.fields.environment} ${key.organization}`;
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [key]);
    else group.push(key);
  }
  for (const active of groups.values()) {
    const tooMany = active[maximumActiveKeys];
    if (tooMany === undefined) continue;
    const { path: field, organization, fields } = tooMany;
    const message = `${quote(organization)} has ${active.length} active ${fields.environment} keys`;
    const hint = `R32 allows ${maximumActiveKeys} per organization and environment; revoke some or use another organization`;
    facts.addProblem({ code: "too_many_active_keys", field, message, hint, pointAt: "key" });
  }
};

function mayCountAsActive({ fields }: WrittenKey, { start, assumptions }: Facts): boolean {
  const { state = "active" } = fields;
  // An expiry that depends on the real time may be in the past, so the key may not count.
  const atStart = keyStateAtStart(fields, start) ?? (state === "active" ? "expired" : state);
  return countsAsActive(atStart, assumptions);
}

/** A pinned secret or id is unique; a secret is well-formed and agrees with the key's fields (R3, R10, R16). */
const secretsFit: ScenarioRule = (facts) => {
  const { scenario, keys, latest, addProblem } = facts;
  const shared = countKeys(facts).count > scenarioLimits.keys ? [] : sharedValues(scenario);
  for (const problem of shared) addProblem({ ...problem, pointAt: "key" });
  for (const { path, fields } of keys) {
    const { secret, environment } = fields;
    if (secret === undefined) continue;
    const parsed = parseApiKey(secret);
    const prefix = prefixOf(environment, isLegacy(fields));
    if (parsed === undefined) {
      const hint = `start it with ${prefix}, followed by letters, digits, _ and -`;
      const message = "the secret is not a well-formed key (R10)";
      addProblem({ code: "secret_malformed", field: [...path, "secret"], message, hint });
    } else if (parsed.prefix !== prefix) {
      const message = `the secret starts with ${parsed.prefix}, but environment and legacy require ${prefix}`;
      const hint = `start it with ${prefix} (R3, R16), or change the other fields`;
      const field = latest([...path, "secret"], [...path, "environment"], [...path, "legacy"]);
      addProblem({ code: "secret_mismatch", field, message, hint });
    }
  }
};

/** Only a replaced key has a replacement, and a rotation could have created it (R17, R26, R37). */
const replacementsFit: ScenarioRule = (facts) => {
  const oldOf = new Map<WrittenKey, WrittenKey>();
  for (const old of facts.keys) {
    replacementIsExpected(old, facts);
    const replacement = replacementOf(old, facts);
    if (replacement === undefined) continue;
    const earlier = oldOf.get(replacement);
    oldOf.set(replacement, earlier ?? old);
    if (earlier !== undefined) {
      const message = `${quote(replacement.ref)} already replaces ${quote(earlier.ref)}`;
      const hint = "each rotation creates its own key (R37)";
      facts.addProblem({ code: "replacement_shared", field: [...old.path, "replaced_by"], message, hint });
    }
    replacementIsAlike(old, replacement, facts);
  }
};

/** Replacements do not form a circle (R42: a replaced key cannot be rotated again). */
const replacementsEnd: ScenarioRule = (facts) => {
  const followed = new Set<WrittenKey>();
  for (const start of facts.keys) {
    const chain: WrittenKey[] = [];
    let next: WrittenKey | undefined = start;
    for (; next !== undefined && !followed.has(next); next = replacementOf(next, facts)) {
      followed.add(next);
      chain.push(next);
    }
    const [first, ...replacements] = next === undefined ? [] : chain.slice(chain.indexOf(next));
    if (first === undefined || first !== next) continue;
    const refs = replacements.slice(0, 5).map(({ ref }) => `${ref} → `);
    const more = replacements.length > refs.length ? "… → " : "";
    const message = `the key is replaced by itself: ${first.ref} → ${refs.join("")}${more}${first.ref}`;
    const hint = "write the ref of the key that the rotation created (R37)";
    facts.addProblem({ code: "replacement_cycle", field: [...first.path, "replaced_by"], message, hint });
  }
};

function replacementIsExpected({ path, fields }: WrittenKey, { latest, addProblem }: Facts): void {
  const { state = "active", replaced_by: replacement } = fields;
  if (state === "retiring" && replacement === undefined) {
    const hint = "add replaced_by with the ref of the key that replaced it (R37)";
    const message = "a retiring key has a replacement, but replaced_by is missing";
    addProblem({ code: "replacement_missing", field: [...path, "state"], message, hint });
  }
  // A replaced key may have expired or been revoked before its overlap ended.
  const mayBeReplaced = replacement === undefined ? isReplaced(state) : state !== "active";
  if (mayBeReplaced) return;
  for (const name of ["replaced_by", "overlap_ends"] as const) {
    if (fields[name] === undefined) continue;
    const hint = "add state: retiring or state: rotated, or remove the field";
    const message = `${name} is for replaced keys, but the key is ${state}`;
    const field = latest([...path, name], [...path, "state"]);
    addProblem({ code: "replacement_not_expected", field, message, hint, pointAt: "key" });
  }
}

function isReplaced(state: WrittenKey["fields"]["state"]): boolean {
  return state === "retiring" || state === "rotated";
}

const settingNames = ["name", "scopes", "limits"] as const satisfies (keyof KeySettings)[];

function replacementIsAlike(old: WrittenKey, replacement: WrittenKey, { latest, addProblem }: Facts): void {
  const field = [...old.path, "replaced_by"];
  const { ref, organization, fields } = replacement;
  if (organization !== old.organization || fields.environment !== old.fields.environment) {
    const message = `the replacement ${quote(ref)} is a ${fields.environment} key of ${quote(organization)}`;
    const hint = "a replacement has the organization and the environment of the old key (R37)";
    addProblem({ code: "replacement_elsewhere", field, message, hint });
  } else if (isLegacy(fields)) {
    const message = `the replacement ${quote(ref)} has a legacy prefix`;
    addProblem({
      code: "replacement_legacy",
      field,
      message,
      hint: "a replacement has the current prefix (R17)",
    });
  }
  for (const name of settingNames) {
    const [before, after] = [old.fields[name], fields[name]];
    if (before === undefined || after === undefined || canonicalJson(before) === canonicalJson(after))
      continue;
    const message = `${name} of ${quote(ref)} differs from ${quote(old.ref)}, which it replaces`;
    const hint = `a replacement has the ${listed(settingNames, "and")} of the old key (R26, R37); remove ${name} from one of them`;
    const at = latest([...replacement.path, name], [...old.path, name]);
    addProblem({ code: "replacement_differs", field: at, message, hint });
  }
}

// With a duplicate ref, the intended key is unknown.
function replacementOf({ fields }: WrittenKey, { keyOf, keys }: Facts): WrittenKey | undefined {
  const { state = "active", replaced_by: ref } = fields;
  return ref === undefined || state === "active" || keys.length > keyOf.size ? undefined : keyOf.get(ref);
}

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
