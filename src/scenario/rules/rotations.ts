import { maximumOverlap, parseApiKey } from "../../domain/api-key.js";
import { quote } from "../problems/words.js";
import type { Facts, KeyFacts, ScenarioRule } from "./facts.js";

/** Only a replaced key names its replacement; a replacement is what a rotation makes (R17, R26, R37). */
export const replacementsFit: ScenarioRule = (facts) => {
  const oldOf = new Map<KeyFacts, KeyFacts>();
  for (const old of facts.keys) {
    replacementIsExpected(old, facts);
    const replacement = replacementOf(old, facts);
    if (replacement === undefined || replacement === old) continue;
    const earlier = oldOf.get(replacement);
    if (earlier === undefined) oldOf.set(replacement, old);
    else {
      const message = `${quote(replacement.ref)} already replaces ${quote(earlier.ref)}`;
      const hint = "each rotation makes a key of its own (R37)";
      facts.wrong("replacement_shared", [...old.path, "replaced_by"], message, hint);
    }
    replacementIsAlike(old, replacement, facts);
  }
};

function replacementIsExpected({ path, fields }: KeyFacts, { wrong }: Facts): void {
  const { state = "active", replaced_by: replacement, overlap_ends: overlap } = fields;
  if (state === "active" || state === "revoked") {
    for (const field of ["replaced_by", "overlap_ends"] as const) {
      if (fields[field] === undefined) continue;
      const hint = "add state: retiring or state: rotated, or remove the field";
      const message = `${field} is for replaced keys, but the key is ${state}`;
      wrong("replacement_not_expected", [...path, field], message, hint, "key");
    }
  } else if (state === "retiring" && replacement === undefined) {
    const hint = "add replaced_by with the ref of the key that replaced it (R37)";
    const message = "a retiring key has a replacement, but replaced_by is missing";
    wrong("replacement_missing", [...path, "state"], message, hint);
  } else if (state === "expired" && replacement === undefined && overlap !== undefined) {
    const hint = "add replaced_by, or remove the field";
    const message = "overlap_ends is for replaced keys, but the key has no replaced_by";
    wrong("replacement_not_expected", [...path, "overlap_ends"], message, hint, "key");
  }
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
    const hint = "a replacement is of the environment of the old key (R37)";
    wrong("replacement_elsewhere", path, `the replacement ${ref} is a ${environment} key`, hint);
  } else if (isLegacy(replacement)) {
    const hint = "a replacement has the current prefix (R17)";
    wrong("replacement_legacy", path, `the replacement ${ref} has a legacy prefix`, hint);
  }
  const compared = [
    [["name"], "R37"],
    [["scopes"], "R37"],
    [["limits", "per_minute"], "R26"],
    [["limits", "per_day"], "R26"],
  ] as const;
  for (const [field, rule] of compared) {
    const [one, other] = [textAt(old, field), textAt(replacement, field)];
    if (one === undefined || other === undefined || one === other) continue;
    const name = field.at(-1);
    const message = `${name} differs from that of ${quote(old.ref)}, which this key replaces`;
    const hint = `a replacement has the name, scopes and limits of the old key (${rule}); leave ${name} out of one of them`;
    wrong("replacement_differs", [...replacement.path, ...field], message, hint);
  }
}

// The order of scopes does not count.
function textAt({ fields }: KeyFacts, path: readonly string[]): string | undefined {
  let value: unknown = fields;
  for (const step of path) value = (value as Record<string, unknown> | undefined)?.[step];
  return value === undefined ? undefined : JSON.stringify(Array.isArray(value) ? value.toSorted() : value);
}

/** Replacements do not go round in a circle (R42: what is replaced cannot be rotated again). */
export const replacementsEnd: ScenarioRule = (facts) => {
  const finished = new Set<KeyFacts>();
  for (const start of facts.keys) {
    const walked = new Set<KeyFacts>();
    let key: KeyFacts | undefined = start;
    for (; key !== undefined && !finished.has(key) && !walked.has(key); key = replacementOf(key, facts)) {
      walked.add(key);
    }
    for (const one of walked) finished.add(one);
    if (key === undefined || !walked.has(key)) continue;
    const cycle = [...walked].slice([...walked].indexOf(key)).map(({ ref }) => ref);
    const message =
      cycle.length === 1
        ? `${quote(key.ref)} cannot replace itself`
        : `the keys replace each other: ${[...cycle, key.ref].join(" → ")}`;
    const hint = "name the key that the rotation made (R37)";
    facts.wrong("replacement_cycle", [...key.path, "replaced_by"], message, hint);
  }
};

/** An overlap is over for a rotated key, and for a retiring one it ends within seven days (R38, R39). */
export const overlapFitsState: ScenarioRule = ({ keys, fromStart, wrong }) => {
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
    } else if (state === "retiring" && end > maximumOverlap) {
      const hint = "an overlap lasts 7 days at most (R39)";
      wrong("overlap_out_of_range", [...path, "overlap_ends"], "the overlap is too long", hint);
    }
  }
};

// A replaced key may have expired before its overlap was over. Which of two keys with one ref is meant is not known.
function replacementOf({ fields }: KeyFacts, { keyOf, keys }: Facts): KeyFacts | undefined {
  const { state = "active", replaced_by: ref } = fields;
  if (ref === undefined || state === "active" || state === "revoked") return undefined;
  return keys.length === keyOf.size ? keyOf.get(ref) : undefined;
}

function isLegacy({ fields: { legacy, secret } }: KeyFacts): boolean {
  return legacy ?? (secret !== undefined && parseApiKey(secret)?.legacy === true);
}
