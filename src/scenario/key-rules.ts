import { defaultScopes, maximumActiveKeys } from "../domain/key.js";
import type { Finding } from "./finding.js";
import { nearest } from "./nearest.js";
import { quote } from "./quote.js";
import { fromStart, type KeyFacts, type ScenarioRule, type WorldFacts } from "./world-facts.js";

/** Every scope is one that keys can be given, each key has it once, and the endpoint's own scope is one of them. */
export const scopesAreKnown: ScenarioRule = ({ keys, assumptions, resolvedAssumptions }) => {
  if (assumptions === undefined) return [];
  const { scopes, me_scope: needed } = resolvedAssumptions;
  const findings = keys.flatMap((key) => (key.sound ? scopeFindings(key, scopes) : []));
  for (const index of repeated(assumptions.scopes ?? [])) {
    findings.push(duplicateScope(["assumptions", "scopes", index], scopes[index] as string));
  }
  if (needed !== null && !scopes.includes(needed)) {
    const field = assumptions.me_scope === undefined ? "scopes" : "me_scope";
    findings.push({
      code: "unknown_scope",
      path: ["assumptions", field],
      message: `me_scope is ${quote(needed)}, which is not one of assumptions.scopes`,
      hint: "set me_scope to one of them, or to null when the endpoint needs no scope",
    });
  }
  return findings;
};

function scopeFindings({ path, fields, ref }: KeyFacts, known: readonly string[]): Finding[] {
  const unknown = (scope: string) => !known.includes(scope);
  if (fields.scopes === undefined) {
    const missing = defaultScopes.find(unknown);
    if (missing === undefined) return [];
    const message = `${quote(ref)} gets the default scope ${missing}, which is not one of assumptions.scopes`;
    return [{ code: "unknown_scope", path, aim: "key", message, hint: "write the scopes of the key out" }];
  }
  const { scopes } = fields;
  const findings: Finding[] = repeated(scopes).map((index) =>
    duplicateScope([...path, "scopes", index], scopes[index] as string),
  );
  for (const [index, scope] of scopes.entries()) {
    if (!unknown(scope)) continue;
    const near = nearest(scope, known);
    findings.push({
      code: "unknown_scope",
      path: [...path, "scopes", index],
      message: `there is no scope ${quote(scope)}`,
      hint: `${near === undefined ? `scopes: ${known.join(", ")}` : `did you mean ${near}?`} More can be named in assumptions.scopes.`,
    });
  }
  return findings;
}

function duplicateScope(path: Finding["path"], scope: string): Finding {
  return { code: "duplicate_scope", path, message: `${quote(scope)} is listed twice`, hint: "list it once" };
}

// Where a name stands that stood before.
function repeated(names: readonly string[]): number[] {
  const seen = new Set<string>();
  return names.flatMap((name, index) => (seen.size === seen.add(name).size ? [index] : []));
}

/** The requests of this minute are among those of today. */
export const usageAddsUp: ScenarioRule = ({ keys }) =>
  keys.flatMap(({ sound, path, fields: { usage } }) => {
    const { this_minute: thisMinute, today, counted_at: countedAt } = usage ?? {};
    if (!sound || thisMinute === undefined || today === undefined || today >= thisMinute) return [];
    // Where it says when each was counted, some of a sliding minute may belong to the day before.
    if (countedAt !== undefined) return [];
    return [
      {
        code: "usage_contradiction" as const,
        path: [...path, "usage", "today"],
        message: `today is ${today}, less than this_minute, which is ${thisMinute}`,
        hint: "the requests of this minute count for today as well (R24)",
      },
    ];
  });

/** A state that is written out agrees with the instant at which the key expires (R43). */
export const expiryFitsState: ScenarioRule = (facts) =>
  facts.keys.flatMap(({ sound, path, fields }) => {
    const { state, expires } = fields;
    const end = fromStart(expires, facts);
    if (!sound || state === undefined || end === undefined) return [];
    const contradiction = (message: string, hint: string): Finding[] => [
      { code: "state_contradiction", path: [...path, "expires"], message, hint: `${hint} (R43)` },
    ];
    if (state === "expired" && end > 0) {
      return contradiction("an expired key expires in the future", "write a time in the past, such as -1d");
    }
    if ((state === "active" || state === "retiring") && end <= 0) {
      return contradiction(
        `the key is ${state} but expired in the past`,
        "a key is expired from that instant on",
      );
    }
    const overlapEnd = fromStart(fields.overlap_ends, facts);
    if (state === "rotated" && overlapEnd !== undefined && end <= Math.min(overlapEnd, 0)) {
      return contradiction("the key expired before its overlap ended", "such a key is expired, not rotated");
    }
    return [];
  });

/** Five active keys in one environment of an organization, and no more (R32). */
export const activeKeysWithinLimit: ScenarioRule = (facts) => {
  const groups = new Map<string, KeyFacts[]>();
  for (const key of facts.keys) {
    if (!countsAsActive(key, facts)) continue;
    const id = JSON.stringify([key.organization, key.fields.environment]);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [key]);
    else group.push(key);
  }
  return [...groups.values()].flatMap((active): Finding[] => {
    const tooMany = active[maximumActiveKeys];
    if (tooMany === undefined) return [];
    return [
      {
        code: "too_many_active_keys",
        path: tooMany.path,
        aim: "key",
        message: `${quote(tooMany.organization)} has ${active.length} active ${tooMany.fields.environment} keys`,
        hint: `R32 allows ${maximumActiveKeys} in one environment of an organization; revoke some or use another organization`,
      },
    ];
  });
};

function countsAsActive({ sound, fields }: KeyFacts, facts: WorldFacts): boolean {
  if (!sound) return false;
  const { state = "active", expires } = fields;
  if (state === "retiring") return facts.resolvedAssumptions.retiring_counts_as_active;
  if (state !== "active") return false;
  // An expiry that hangs on the real time may lie in the past: nobody can say that the key counts.
  return expires === undefined || (fromStart(expires, facts) ?? 0) > 0;
}
