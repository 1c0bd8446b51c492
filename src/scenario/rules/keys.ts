import {
  defaultScopes,
  keyPrefixes,
  maximumActiveKeys,
  parseApiKey,
  prefixOf,
} from "../../domain/api-key.js";
import type { Path } from "../problems/scenario-problem.js";
import { listed, nearest, quote } from "../problems/words.js";
import type { Facts, KeyFacts, ScenarioRule } from "./facts.js";

/** Every scope is one that keys can be given, each key has it once, and the endpoint's own scope is one of them. */
export const scopesAreKnown: ScenarioRule = ({ scenario, keys, assumptions, wrong }) => {
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
    const hint = "set me_scope to one of them, or to null when the endpoint needs no scope";
    wrong("unknown_scope", ["assumptions", field], message, hint);
  }
  for (const { path, fields, ref } of keys) {
    once(fields.scopes ?? [], [...path, "scopes"]);
    const missing = fields.scopes === undefined && defaultScopes.find((scope) => !known.includes(scope));
    if (missing) {
      const message = `${quote(ref)} gets the default scope ${missing}, which is not one of assumptions.scopes`;
      wrong("unknown_scope", path, message, "write the scopes of the key out", "key");
    }
    for (const [index, scope] of (fields.scopes ?? []).entries()) {
      if (known.includes(scope)) continue;
      const near = nearest(scope, known);
      const hint = near === undefined ? `scopes: ${known.join(", ")}.` : `did you mean ${near}?`;
      const place = [...path, "scopes", index];
      const more = `${hint} More can be named in assumptions.scopes.`;
      wrong("unknown_scope", place, `there is no scope ${quote(scope)}`, more);
    }
  }
};

/** The requests of this minute are among those of today. */
export const usageAddsUp: ScenarioRule = ({ keys, wrong }) => {
  for (const { path, fields } of keys) {
    const { this_minute: minute = 0, today = minute, counted_at: countedAt } = fields.usage ?? {};
    // Where it says when each was counted, some of a sliding minute may belong to the day before.
    if (today >= minute || countedAt !== undefined) continue;
    const message = `today is ${today}, less than this_minute, which is ${minute}`;
    const hint = "the requests of this minute count for today as well (R24)";
    wrong("usage_contradiction", [...path, "usage", "today"], message, hint);
  }
};

/** A state that is written out agrees with the instant at which the key expires (R43). */
export const expiryFitsState: ScenarioRule = ({ keys, fromStart, wrong }) => {
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
      const hint = "a key is expired from that instant on";
      contradiction(`the key is ${state} but expired in the past`, hint);
    } else if (state === "rotated" && overlapEnd !== undefined && end <= Math.min(overlapEnd, 0)) {
      const hint = "such a key is expired, not rotated";
      contradiction("the key expired before its overlap ended", hint);
    }
  }
};

/** Five active keys in one environment of an organization, and no more (R32). */
export const activeKeysWithinLimit: ScenarioRule = (facts) => {
  const groups = new Map<string, KeyFacts[]>();
  for (const key of facts.keys.filter((one) => countsAsActive(one, facts))) {
    const id = JSON.stringify([key.organization, key.fields.environment]);
    groups.set(id, [...(groups.get(id) ?? []), key]);
  }
  for (const active of groups.values()) {
    const tooMany = active[maximumActiveKeys];
    if (tooMany === undefined) continue;
    const { path, organization, fields } = tooMany;
    const message = `${quote(organization)} has ${active.length} active ${fields.environment} keys`;
    const hint = `R32 allows ${maximumActiveKeys} in one environment of an organization; revoke some or use another organization`;
    facts.wrong("too_many_active_keys", path, message, hint, "key");
  }
};

function countsAsActive({ fields }: KeyFacts, { assumptions, fromStart }: Facts): boolean {
  const { state = "active", expires } = fields;
  if (state === "retiring") return assumptions.retiring_counts_as_active;
  // An expiry that hangs on the real time may lie in the past: whether the key counts is not known.
  return state === "active" && (expires === undefined || (fromStart(expires) ?? 0) > 0);
}

/** A pinned secret is a well-formed key of its own that says the same as the fields of the key (R3, R10, R16). */
export const secretsFit: ScenarioRule = ({ keys, wrong }) => {
  const first = new Map<string, string>();
  for (const { ref, path, fields } of keys) {
    const { secret, sha256, environment, legacy } = fields;
    if (secret === undefined) continue;
    if (sha256 !== undefined) {
      const hint = "leave one of them out; sha256 is for a key that is no longer known in full";
      wrong("secret_mismatch", [...path, "sha256"], "the key has both a secret and a sha256", hint);
    }
    const earlier = first.get(secret);
    if (earlier === undefined) first.set(secret, ref);
    else {
      const hint = "give each key its own, or leave it out and the seed makes one";
      wrong("duplicate_secret", [...path, "secret"], `the key ${quote(earlier)} has the same secret`, hint);
    }
    const parsed = parseApiKey(secret);
    if (parsed === undefined) {
      const prefixes = keyPrefixes.map((row) => row.prefix);
      const hint = `it begins with ${listed(prefixes, "or")}, followed by letters, digits, _ and -`;
      wrong("secret_malformed", [...path, "secret"], "the secret is not a well-formed key (R10)", hint);
    } else if (parsed.environment !== environment) {
      const message = `the secret is one of a ${parsed.environment} key, but the key's environment is ${environment}`;
      const hint = `the prefix says the environment (R3): begin it with ${prefixOf(environment, parsed.legacy)}`;
      wrong("secret_mismatch", [...path, "secret"], message, hint);
    } else if (legacy !== undefined && parsed.legacy !== legacy) {
      const message = `the secret ${parsed.legacy ? "has" : "does not have"} a legacy prefix, but legacy is ${legacy}`;
      const hint = `begin it with ${prefixOf(environment, legacy)} (R16), or leave legacy out`;
      wrong("secret_mismatch", [...path, "secret"], message, hint);
    }
  }
};
