import { lastClockInstant } from "../../rules/key-state.js";
import type { FieldPath } from "../../schema/field-path.js";
import { nearest, quote } from "../../schema/words.js";
import { isReserved } from "../format/refs.js";
import { isPopulated, populationOf } from "../keys/population.js";
import { fieldOfKey } from "../keys/scenario-keys.js";
import type { AddProblem } from "../problems.js";
import type { KnownRefs, RefKind, RuleInput, ScenarioRule } from "./rule-input.js";

/** The scenario has an organization. */
const organizationExists: ScenarioRule = ({ scenario, organizations, addProblem }) => {
  if (organizations.size > 0 || populationOf(scenario).organizations > 0) return;
  addProblem({
    code: "no_organizations",
    field: ["organizations"],
    message: "the scenario has no organization",
    hint: "add one: organizations: { harvest-bank: { type: bank } }",
    pointAt: "name",
  });
};

/** Each ref of an organization or a key is unique, none of the population's, and no word of stories. */
const refsAreFree: ScenarioRule = (input) => {
  const { organizations, keys, keyByRef, addProblem } = input;
  for (const ref of organizations.keys()) checkNotPopulated(ref, ["organizations", ref], input);

  for (const key of keys) {
    const { ref } = key;
    const field = fieldOfKey(key);
    checkNotPopulated(ref, field, input);
    if (isReserved(ref)) {
      addProblem({
        code: "reserved_key_ref",
        field,
        pointAt: "name",
        message: `a key cannot have the ref ${quote(ref)}: stories use this word instead of a key`,
        hint: `call it ${ref}-key`,
      });
    }

    const first = keyByRef.get(ref);
    if (first === undefined || first === key) continue;
    const message = `${quote(first.organization)} already has a key ${quote(ref)}`;
    const hint = "refs of keys are unique in the whole scenario: choose another one";
    addProblem({ code: "duplicate_key_ref", field, message, hint, pointAt: "name" });
  }
};

function checkNotPopulated(ref: string, field: FieldPath, { scenario, addProblem }: RuleInput): void {
  if (!isPopulated(ref, scenario.population)) return;
  addProblem({
    code: "taken_by_population",
    field,
    pointAt: "name",
    message: `the population has the ref ${quote(ref)}`,
    hint: "choose another one: the population uses organization-1, organization-1-key-1 and so on",
  });
}

/** The default key and each replacement exist. */
const refsExist: ScenarioRule = (input) => {
  const { scenario, keys, refs, addProblem } = input;
  checkRef("key", scenario.default_key, ["default_key"], refs, addProblem);
  for (const key of keys) {
    checkRef("key", key.fields.replaced_by, [...fieldOfKey(key), "replaced_by"], refs, addProblem);
  }
};

/** The clock can still move after its start. */
const clockIsWithinYears: ScenarioRule = (input) => {
  const { start } = input;
  if (start === "unknown" || start <= lastClockInstant) return;
  input.addProblem({
    code: "out_of_range",
    field: ["clock", "now"],
    message: `a clock cannot start after ${new Date(lastClockInstant).toISOString()}`,
    hint: "write an earlier time",
  });
};

/** A hint lists at most this many refs. */
const maxRefsShown = 10;
/** To compare each of many wrong refs with more than this would be slow. */
const maxRefsCompared = 300;

/** Adds a problem for a ref of nothing; to write no ref is fine. */
export function checkRef(
  kind: RefKind,
  ref: string | undefined,
  field: FieldPath,
  refs: RuleInput["refs"],
  addProblem: AddProblem,
): void {
  const knownRefs = refs[kind];
  if (ref === undefined || knownRefs.has(ref)) return;
  const code = `unknown_${kind}_ref` as const;
  const message = `there is no ${kind} ${quote(ref)}`;
  addProblem({ code, field, message }, () => knownRefsHint(ref, knownRefs, `${kind}s`));
}

function knownRefsHint(ref: string, knownRefs: KnownRefs, things: string): string {
  // One more than are compared shows that there are too many.
  const refs = firstItems(knownRefs.keys(), maxRefsCompared + 1);
  if (refs.length === 0) return `the scenario has no ${things}`;
  const near = refs.length > maxRefsCompared ? undefined : nearest(ref, refs);
  if (near !== undefined) return `did you mean ${near}?`;

  const more = refs.length > maxRefsShown ? ", …" : "";
  return `${things} of this scenario: ${refs.slice(0, maxRefsShown).join(", ")}${more}`;
}

function firstItems(items: Iterable<string>, count: number): string[] {
  const first: string[] = [];
  for (const item of items) {
    if (first.length === count) break;
    first.push(item);
  }
  return first;
}

export const refRules: readonly ScenarioRule[] = [
  clockIsWithinYears,
  organizationExists,
  refsAreFree,
  refsExist,
];
