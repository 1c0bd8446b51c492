import { quote } from "../../schema/words.js";
import { fieldOfKey, isLegacy, type ScenarioKey } from "../keys/scenario-keys.js";
import type { RuleInput, ScenarioRule } from "./rule-input.js";

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
      problems.add({
        code: "replacement_shared",
        field,
        message: `${quote(ref)} already replaces ${quote(earlier.ref)}`,
        hint: "each rotation creates its own key (R37)",
      });
    }

    if (organization !== old.organization || fields.environment !== old.fields.environment) {
      problems.add({
        code: "replacement_elsewhere",
        field,
        message: `the replacement ${quote(ref)} is a ${fields.environment} key of ${quote(organization)}`,
        hint: "a replacement has the organization and the environment of the old key (R37)",
      });
    } else if (isLegacy(fields)) {
      problems.add({
        code: "replacement_legacy",
        field,
        message: `the replacement ${quote(ref)} has a legacy prefix`,
        hint: "a replacement has the current prefix (R17)",
      });
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
    input.problems.add({
      code: "replacement_cycle",
      field: [...fieldOfKey(first), "replaced_by"],
      message: `the key is replaced by itself: ${[...refs, first.ref].join(" → ")}`,
      hint: "write the ref of the key that the rotation created (R37)",
    });
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

export const replacementRules: readonly ScenarioRule[] = [
  replacementsAreOfRotations,
  replacementsHaveNoCircle,
];
