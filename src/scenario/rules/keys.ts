import {
  defaultScopes,
  keyPrefixes,
  maximumActiveKeys,
  maximumOverlap,
  parseApiKey,
  prefixOf,
} from "../../spec/api-key.js";
import type { Path } from "../../spec/schema/shape.js";
import { listed, nearest, quote } from "../../spec/schema/words.js";
import { isInstant, outsideHint, parseTime, parseWhen } from "../format/fields.js";
import { populationOf, sharedValues } from "../population.js";
import type { Facts, KeyFacts, ScenarioRule } from "./facts.js";

// Single keys.

/** Every scope is known, no key has it twice, and the endpoint's scope is known. */
const scopesAreKnown: ScenarioRule = ({ scenario, keys, assumptions, wrong }) => {
  const { scopes: known, me_scope: needed } = assumptions;
  const once = (scopes: readonly string[], path: Path) => {
    for (const [index, scope] of scopes.entries()) {
      if (scopes.indexOf(scope) === index) continue;
      wrong("duplicate_scope", [...path, index], `${quote(scope)} is listed twice`, "list it once");
    }
  };
  once(scenario.assumptions?.scopes ?? [], ["assumptions", "scopes"]);
  if (needed !== null && !known.includes(needed)) {
    const field = scenario.assumptions?.me_scope === undefined ? "scopes" : "me_scope";
    const message = `me_scope is ${quote(needed)}, which is not one of assumptions.scopes`;
    const hint = "set me_scope to one of them, or to null for no scope";
    wrong("unknown_scope", ["assumptions", field], message, hint);
  }
  for (const { path, fields, ref } of keys) {
    once(fields.scopes ?? [], [...path, "scopes"]);
    const missing = fields.scopes === undefined && defaultScopes.find((scope) => !known.includes(scope));
    if (missing) {
      const message = `${quote(ref)} gets the default scope ${missing}, which is not one of assumptions.scopes`;
      wrong("unknown_scope", path, message, "list the scopes of the key", "key");
    }
    for (const [index, scope] of (fields.scopes ?? []).entries()) {
      if (known.includes(scope)) continue;
      const near = nearest(scope, known);
      const hint = near === undefined ? `scopes: ${known.join(", ")}.` : `did you mean ${near}?`;
      const more = `${hint} Add more in assumptions.scopes.`;
      wrong("unknown_scope", [...path, "scopes", index], `there is no scope ${quote(scope)}`, more);
    }
  }
};

/** The requests of this minute also count for today. */
const usageAddsUp: ScenarioRule = ({ keys, wrong }) => {
  for (const { path, fields } of keys) {
    const { this_minute: minute = 0, today = minute, counted_at: countedAt } = fields.usage ?? {};
    // With the times in counted_at, some requests of a sliding minute may belong to the day before.
    if (today >= minute || countedAt !== undefined) continue;
    const message = `today is ${today}, less than this_minute, which is ${minute}`;
    const hint = "the requests of this minute also count for today (R24)";
    wrong("usage_contradiction", [...path, "usage", "today"], message, hint);
  }
};

/** The end of a key is in the years 0000 to 9999, as `keys.create` also requires. */
const endsAreInstants: ScenarioRule = ({ scenario, keys, wrong }) => {
  const start = parseTime(scenario.clock?.now ?? "");
  if (start === undefined) return;
  for (const { path, fields } of keys) {
    for (const field of ["expires", "overlap_ends"] as const) {
      const given = fields[field];
      if (given === undefined || isInstant(parseWhen(given, start))) continue;
      const message = `${quote(given)} is outside of the years 0000 to 9999, counted from clock.now`;
      wrong("bad_time", [...path, field], message, outsideHint);
    }
  }
};

/** An explicit state agrees with the key's expiry (R43). */
const expiryFitsState: ScenarioRule = ({ keys, fromStart, wrong }) => {
  for (const { path, fields } of keys) {
    const { state } = fields;
    const end = fromStart(fields.expires);
    if (state === undefined || end === undefined) continue;
    const contradiction = (message: string, hint: string) =>
      wrong("state_contradiction", [...path, "expires"], message, `${hint} (R43)`);
    const overlapEnd = fromStart(fields.overlap_ends);
    if (state === "expired" && end > 0) {
      contradiction("an expired key expires in the future", "write a time in the past, such as -1d");
    } else if ((state === "active" || state === "retiring") && end <= 0) {
      contradiction(
        `the key is ${state} but expired in the past`,
        "write state: expired, or a time in the future",
      );
    } else if (state === "rotated" && overlapEnd !== undefined && end <= Math.min(overlapEnd, 0)) {
      contradiction("the key expired before its overlap ended", "such a key is expired, not rotated");
    }
  }
};

/** The maximum number of keys in a scenario: all of them are in memory. */
const maximumKeys = 100_000;

/**
 * A scenario's keys fit in memory. Keys created at run time, which snapshots write as hashes, do not count.
 */
const keysWithinMaximum: ScenarioRule = ({ scenario, keys, wrong }) => {
  const { organizations, keysEach } = populationOf(scenario);
  const populated = organizations * keysEach;
  const count = populated + keys.filter(({ fields }) => fields.sha256 === undefined).length;
  if (count <= maximumKeys) return;
  const message = `the scenario has ${count} keys; the maximum is ${maximumKeys}`;
  const hint =
    populated > 0 ? "lower population.organizations or population.keys_per_organization" : "remove keys";
  wrong("too_many_keys", [populated > 0 ? "population" : "organizations"], message, hint);
};

/** An organization has at most five active keys in an environment (R32). */
const activeKeysWithinLimit: ScenarioRule = (facts) => {
  const groups = new Map<string, KeyFacts[]>();
  for (const key of facts.keys.filter((one) => countsAsActive(one, facts))) {
    const id = `${key.fields.environment} ${key.organization}`;
    groups.set(id, [...(groups.get(id) ?? []), key]);
  }
  for (const active of groups.values()) {
    const tooMany = active[maximumActiveKeys];
    if (tooMany === undefined) continue;
    const { path, organization, fields } = tooMany;
    const message = `${quote(organization)} has ${active.length} active ${fields.environment} keys`;
    const hint = `R32 allows ${maximumActiveKeys} per organization and environment; revoke some or use another organization`;
    facts.wrong("too_many_active_keys", path, message, hint, "key");
  }
};

function countsAsActive({ fields }: KeyFacts, { assumptions, fromStart }: Facts): boolean {
  const { state = "active", expires } = fields;
  if (state === "retiring") return assumptions.retiring_counts_as_active;
  // An expiry that depends on the real time may be in the past, so the key may not count.
  return state === "active" && (expires === undefined || (fromStart(expires) ?? 0) > 0);
}

/** A pinned secret is unique, well-formed and agrees with the key's fields (R3, R10, R16); so is a pinned id. */
const secretsFit: ScenarioRule = ({ scenario, keys, wrong }) => {
  for (const { code, path, message, hint } of sharedValues(scenario)) wrong(code, path, message, hint);
  for (const { path, fields } of keys) {
    const { secret, sha256, environment, legacy } = fields;
    if (secret === undefined) continue;
    if (sha256 !== undefined) {
      const hint = "remove one of them; sha256 is for a key that is no longer known in full";
      wrong("secret_mismatch", [...path, "sha256"], "the key has both a secret and a sha256", hint);
    }
    const parsed = parseApiKey(secret);
    if (parsed === undefined) {
      const prefixes = keyPrefixes.map((row) => row.prefix);
      const hint = `start it with ${listed(prefixes, "or")}, followed by letters, digits, _ and -`;
      wrong("secret_malformed", [...path, "secret"], "the secret is not a well-formed key (R10)", hint);
    } else if (parsed.environment !== environment) {
      const message = `the secret has the prefix of a ${parsed.environment} key, but the key's environment is ${environment}`;
      const hint = `the prefix matches the environment (R3): start it with ${prefixOf(environment, parsed.legacy)}`;
      wrong("secret_mismatch", [...path, "secret"], message, hint);
    } else if (legacy !== undefined && parsed.legacy !== legacy) {
      const message = `the secret ${parsed.legacy ? "has" : "does not have"} a legacy prefix, but legacy is ${legacy}`;
      const hint = `start it with ${prefixOf(environment, legacy)} (R16), or remove legacy`;
      wrong("secret_mismatch", [...path, "secret"], message, hint);
    }
  }
};

// Keys that replace each other.

/** Only a replaced key has a replacement, and a rotation could have created it (R17, R26, R37). */
const replacementsFit: ScenarioRule = (facts) => {
  const oldOf = new Map<KeyFacts, KeyFacts>();
  for (const old of facts.keys) {
    replacementIsExpected(old, facts);
    const replacement = replacementOf(old, facts);
    if (replacement === undefined || replacement === old) continue;
    const earlier = oldOf.get(replacement);
    oldOf.set(replacement, earlier ?? old);
    if (earlier !== undefined) {
      const message = `${quote(replacement.ref)} already replaces ${quote(earlier.ref)}`;
      const hint = "each rotation creates its own key (R37)";
      facts.wrong("replacement_shared", [...old.path, "replaced_by"], message, hint);
    }
    replacementIsAlike(old, replacement, facts);
  }
};

function replacementIsExpected({ path, fields }: KeyFacts, { wrong }: Facts): void {
  const { state = "active", replaced_by: replacement } = fields;
  if (state === "retiring" && replacement === undefined) {
    const hint = "add replaced_by with the ref of the key that replaced it (R37)";
    const message = "a retiring key has a replacement, but replaced_by is missing";
    wrong("replacement_missing", [...path, "state"], message, hint);
  }
  if (isReplaced(state) || (endedEarly(state) && replacement !== undefined)) return;
  for (const field of ["replaced_by", "overlap_ends"] as const) {
    if (fields[field] === undefined) continue;
    const hint = "add state: retiring or state: rotated, or remove the field";
    const message = `${field} is for replaced keys, but the key is ${state}`;
    wrong("replacement_not_expected", [...path, field], message, hint, "key");
  }
}

function isReplaced(state: KeyFacts["fields"]["state"]): boolean {
  return state === "retiring" || state === "rotated";
}

// A replaced key may have ended for another reason before its overlap ended.
function endedEarly(state: KeyFacts["fields"]["state"]): boolean {
  return state === "expired" || state === "revoked";
}

function replacementIsAlike(old: KeyFacts, replacement: KeyFacts, { wrong }: Facts): void {
  const path = [...old.path, "replaced_by"];
  const ref = quote(replacement.ref);
  const { environment } = replacement.fields;
  if (replacement.organization !== old.organization) {
    const message = `the replacement ${ref} belongs to ${quote(replacement.organization)}`;
    const hint = "a replacement belongs to the organization of the old key (R37)";
    wrong("replacement_elsewhere", path, message, hint);
  } else if (environment !== old.fields.environment) {
    const hint = "a replacement has the environment of the old key (R37)";
    wrong("replacement_elsewhere", path, `the replacement ${ref} is a ${environment} key`, hint);
  } else if (isLegacy(replacement)) {
    const hint = "a replacement has the current prefix (R17)";
    wrong("replacement_legacy", path, `the replacement ${ref} has a legacy prefix`, hint);
  }
  for (const field of [["name"], ["scopes"], ["limits", "per_minute"], ["limits", "per_day"]]) {
    const [one, other] = [textAt(old, field), textAt(replacement, field)];
    if (one === undefined || other === undefined || one === other) continue;
    const name = field.at(-1);
    const rule = field[0] === "limits" ? "R26" : "R37";
    const message = `${name} differs from ${quote(old.ref)}, which this key replaces`;
    const hint = `a replacement has the name, scopes and limits of the old key (${rule}); remove ${name} from one of them`;
    wrong("replacement_differs", [...replacement.path, ...field], message, hint);
  }
}

// The order of scopes does not matter.
function textAt({ fields }: KeyFacts, path: readonly string[]): string | undefined {
  let value: unknown = fields;
  for (const step of path) value = (value as Record<string, unknown> | undefined)?.[step];
  return value === undefined ? undefined : JSON.stringify(Array.isArray(value) ? value.toSorted() : value);
}

/** Replacements do not form a circle (R42: a replaced key cannot be rotated again). */
const replacementsEnd: ScenarioRule = (facts) => {
  const seen = new Set<KeyFacts>();
  for (const start of facts.keys) {
    const chain = [start];
    let next = replacementOf(start, facts);
    for (; next !== undefined && next !== start && !seen.has(next); next = replacementOf(next, facts)) {
      seen.add(next);
      chain.push(next);
    }
    if (next !== start) continue;
    const message = `replacements form a circle: ${[...chain, start].map(({ ref }) => ref).join(" → ")}`;
    const hint = "write the ref of the key that the rotation created (R37)";
    facts.wrong("replacement_cycle", [...start.path, "replaced_by"], message, hint);
  }
};

/** The overlap of a rotated key has ended; the overlap of a retiring key ends within seven days (R38, R39). */
const overlapFitsState: ScenarioRule = ({ keys, fromStart, wrong }) => {
  for (const { path, fields } of keys) {
    const { state } = fields;
    const end = fromStart(fields.overlap_ends);
    if (end === undefined) continue;
    const contradiction = (message: string, hint: string) =>
      wrong("state_contradiction", [...path, "overlap_ends"], message, hint);
    if (state === "rotated" && end > 0) {
      const hint = "write state: retiring, or a time in the past such as -1h (R38)";
      contradiction("the overlap of a rotated key ends in the future", hint);
    } else if (state === "expired" && end < (fromStart(fields.expires) ?? 0)) {
      contradiction("the overlap ended before the key expired", "such a key is rotated, not expired");
    } else if (state === "retiring" && end <= 0) {
      const hint = "write state: rotated, or a time in the future such as 30m (R38)";
      contradiction("the overlap of a retiring key ended in the past", hint);
    } else if ((state === "retiring" || endedEarly(state)) && end > maximumOverlap) {
      const hint = "an overlap lasts at most 7 days (R39)";
      wrong("overlap_out_of_range", [...path, "overlap_ends"], "the overlap is too long", hint);
    }
  }
};

// With a duplicate ref, the intended key is unknown.
function replacementOf({ fields }: KeyFacts, { keyOf, keys }: Facts): KeyFacts | undefined {
  const { state, replaced_by: ref } = fields;
  if (ref === undefined || !(isReplaced(state) || endedEarly(state))) return undefined;
  return keys.length === keyOf.size ? keyOf.get(ref) : undefined;
}

function isLegacy({ fields: { legacy, secret } }: KeyFacts): boolean {
  return legacy ?? (secret !== undefined && parseApiKey(secret)?.legacy === true);
}

export const keyRules: readonly ScenarioRule[] = [
  scopesAreKnown,
  usageAddsUp,
  endsAreInstants,
  expiryFitsState,
  keysWithinMaximum,
  activeKeysWithinLimit,
  secretsFit,
  replacementsFit,
  replacementsEnd,
  overlapFitsState,
];
