import { parseApiKey } from "../domain/api-key.js";
import { maximumOverlap } from "../domain/key.js";
import type { Finding } from "./finding.js";
import { quote } from "./quote.js";
import { knownKeysHint } from "./ref-rules.js";
import { fromStart, type KeyFacts, type ScenarioRule, type WorldFacts } from "./world-facts.js";

/** Only a replaced key names a replacement, and one that is still in its overlap names one that exists (R37). */
export const replacementIsFound: ScenarioRule = (facts) =>
  facts.keys.flatMap(({ sound, path, fields }): Finding[] => {
    if (!sound) return [];
    const { state = "active", replaced_by: replacement } = fields;
    if (!isReplaced(state)) {
      return (["replaced_by", "overlap_ends"] as const)
        .filter((field) => fields[field] !== undefined)
        .map((field) => ({
          code: "replacement_not_expected",
          path: [...path, field],
          aim: "key",
          message: `${field} is for replaced keys, but the key is ${state}`,
          hint: "add state: retiring or state: rotated, or remove the field",
        }));
    }
    if (replacement === undefined) {
      if (state === "rotated") return [];
      if (state === "expired") return expiredWithoutReplacement(path, fields);
      return [
        {
          code: "replacement_missing",
          path: [...path, "state"],
          message: "a retiring key has a replacement, but replaced_by is missing",
          hint: "add replaced_by with the ref of the key that replaced it (R37)",
        },
      ];
    }
    if (facts.keyOf.has(replacement) || !facts.refsAreCertain) return [];
    return [
      {
        code: "unknown_key_ref",
        path: [...path, "replaced_by"],
        message: `there is no key ${quote(replacement)}`,
        hint: knownKeysHint(replacement, facts),
      },
    ];
  });

// A key that expired without having been replaced has no overlap.
function expiredWithoutReplacement(path: KeyFacts["path"], fields: KeyFacts["fields"]): Finding[] {
  if (fields.overlap_ends === undefined) return [];
  return [
    {
      code: "replacement_not_expected",
      path: [...path, "overlap_ends"],
      aim: "key",
      message: "overlap_ends is for replaced keys, but the key has no replaced_by",
      hint: "add replaced_by, or remove the field",
    },
  ];
}

/** A replacement is what a rotation makes: of the same organization and environment, with the same rights (R17, R26, R37). */
export const replacementFits: ScenarioRule = (facts) =>
  facts.keys.flatMap((old): Finding[] => {
    const replacement = replacementOf(old, facts);
    if (replacement === undefined || replacement === old) return [];
    const path = [...old.path, "replaced_by"];
    const ref = quote(replacement.ref);
    if (replacement.organization !== old.organization) {
      const message = `the replacement ${ref} belongs to ${quote(replacement.organization)}`;
      const hint = "a replacement belongs to the organization of the old key (R37)";
      return [{ code: "replacement_elsewhere", path, message, hint }];
    }
    if (replacement.fields.environment !== old.fields.environment) {
      const message = `the replacement ${ref} is a ${replacement.fields.environment} key`;
      const hint = "a replacement is of the environment of the old key (R37)";
      return [{ code: "replacement_elsewhere", path, message, hint }];
    }
    if (isLegacy(replacement)) {
      const message = `the replacement ${ref} has a legacy prefix`;
      return [
        { code: "replacement_legacy", path, message, hint: "a replacement has the current prefix (R17)" },
      ];
    }
    return differences(old, replacement);
  });

function differences(old: KeyFacts, replacement: KeyFacts): Finding[] {
  const compared = [
    ["name", ["name"], "R37"],
    ["scopes", ["scopes"], "R37"],
    ["per_minute", ["limits", "per_minute"], "R26"],
    ["per_day", ["limits", "per_day"], "R26"],
  ] as const;
  return compared
    .filter(([, path]) => {
      const [one, other] = [fieldAt(old, path), fieldAt(replacement, path)];
      return one !== undefined && other !== undefined && one !== other;
    })
    .map(([name, path, rule]) => ({
      code: "replacement_differs",
      path: [...replacement.path, ...path],
      message: `${name} differs from that of ${quote(old.ref)}, which this key replaces`,
      hint: `a replacement has the name, scopes and limits of the old key (${rule}); leave ${name} out of one of them`,
    }));
}

// As text, so that the order of scopes does not count.
function fieldAt({ fields }: KeyFacts, path: readonly string[]): string | undefined {
  let value: unknown = fields;
  for (const step of path) value = (value as Record<string, unknown> | undefined)?.[step];
  return value === undefined ? undefined : JSON.stringify(Array.isArray(value) ? value.toSorted() : value);
}

/** A key replaces one other key at most (R37). */
export const replacementsAreNotShared: ScenarioRule = (facts) => {
  const first = new Map<KeyFacts, KeyFacts>();
  return facts.keys.flatMap((old): Finding[] => {
    const replacement = replacementOf(old, facts);
    if (replacement === undefined) return [];
    const earlier = first.get(replacement);
    if (earlier === undefined) {
      first.set(replacement, old);
      return [];
    }
    return [
      {
        code: "replacement_shared",
        path: [...old.path, "replaced_by"],
        message: `${quote(replacement.ref)} already replaces ${quote(earlier.ref)}`,
        hint: "each rotation makes a key of its own (R37)",
      },
    ];
  });
};

/** Replacements do not go round in a circle (R42: what is replaced cannot be rotated again). */
export const replacementsEnd: ScenarioRule = (facts) => {
  const finished = new Set<KeyFacts>();
  return facts.keys.flatMap((start): Finding[] => {
    const walked = new Set<KeyFacts>();
    let key: KeyFacts | undefined = start;
    for (; key !== undefined && !finished.has(key) && !walked.has(key); key = replacementOf(key, facts)) {
      walked.add(key);
    }
    for (const one of walked) finished.add(one);
    if (key === undefined || !walked.has(key)) return [];
    const cycle = [...walked].slice([...walked].indexOf(key));
    const message =
      cycle.length === 1
        ? `${quote(key.ref)} cannot replace itself`
        : `the keys replace each other: ${[...cycle, key].map(({ ref }) => ref).join(" → ")}`;
    const path = [...key.path, "replaced_by"];
    return [{ code: "replacement_cycle", path, message, hint: "name the key that the rotation made (R37)" }];
  });
};

/** An overlap is over for a rotated key, and for a retiring one it ends within seven days (R38, R39). */
export const overlapFitsState: ScenarioRule = (facts) =>
  facts.keys.flatMap(({ sound, path, fields }): Finding[] => {
    const end = fromStart(fields.overlap_ends, facts);
    if (!sound || end === undefined) return [];
    const finding = (code: Finding["code"], message: string, hint: string): Finding[] => [
      { code, path: [...path, "overlap_ends"], message, hint },
    ];
    if (fields.state === "rotated" && end > 0) {
      return finding(
        "state_contradiction",
        "the overlap of a rotated key ends in the future",
        "write state: retiring, or a time in the past such as -1h (R38)",
      );
    }
    const expiry = fromStart(fields.expires, facts) ?? 0;
    if (fields.state === "expired" && end < expiry) {
      return finding(
        "state_contradiction",
        "the overlap ended before the key expired",
        "such a key is rotated, not expired",
      );
    }
    if (fields.state !== "retiring") return [];
    if (end <= 0) {
      return finding(
        "state_contradiction",
        "the overlap of a retiring key ended in the past",
        "write state: rotated, or a time in the future such as 30m (R38)",
      );
    }
    if (end > maximumOverlap) {
      return finding(
        "overlap_out_of_range",
        "the overlap is too long",
        "an overlap lasts 7 days at most (R39)",
      );
    }
    return [];
  });

// A replaced key may have expired before its overlap was over.
function isReplaced(state: string | undefined): boolean {
  return state === "retiring" || state === "rotated" || state === "expired";
}

// Of well-shaped keys only; whatever else is wrong is said by other rules.
function replacementOf(old: KeyFacts, { keyOf, sharedRefs }: WorldFacts): KeyFacts | undefined {
  const { state, replaced_by: ref } = old.fields;
  // Which of two keys with one ref is meant nobody can say.
  if (!old.sound || !isReplaced(state) || ref === undefined || sharedRefs.has(ref)) return undefined;
  const replacement = keyOf.get(ref);
  return replacement?.sound ? replacement : undefined;
}

function isLegacy({ fields: { legacy, secret } }: KeyFacts): boolean {
  return legacy ?? (secret !== undefined && parseApiKey(secret)?.legacy === true);
}
