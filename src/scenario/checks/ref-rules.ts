import { lastClockInstant } from "../../rules/api-key.js";
import type { FieldPath } from "../../rules/schema/shape.js";
import { nearest, quote } from "../../rules/schema/words.js";
import { isReserved } from "../format/fields.js";
import { isPopulated } from "../population.js";
import type { Facts, ScenarioRule } from "./facts.js";

const refsAreFree: ScenarioRule = ({ scenario, organizations, keys, keyOf, addProblem }) => {
  const { population } = scenario;
  if (organizations.size === 0 && (population?.organizations ?? 0) === 0) {
    addProblem({
      code: "no_organizations",
      field: ["organizations"],
      message: "the scenario has no organization",
      hint: "add one: organizations: { harvest-bank: { type: bank } }",
      pointAt: "key",
    });
  }
  const isTaken = (ref: string, field: FieldPath) => {
    if (!isPopulated(ref, population)) return;
    const message = `the population has the ref ${quote(ref)}`;
    const hint = "choose another one: the population uses organization-1, organization-1-key-1 and so on";
    addProblem({ code: "taken_by_population", field, message, hint, pointAt: "key" });
  };
  for (const ref of organizations.keys()) isTaken(ref, ["organizations", ref]);
  for (const key of keys) {
    const { ref, path: field } = key;
    isTaken(ref, field);
    if (isReserved(ref)) {
      const message = `a key cannot have the ref ${quote(ref)}: stories use this word instead of a key`;
      const hint = `call it ${ref}-key`;
      addProblem({ code: "reserved_key_ref", field, message, hint, pointAt: "key" });
    }
    const first = keyOf.get(ref);
    if (first === undefined || first === key) continue;
    const message = `${quote(first.organization)} already has a key ${quote(ref)}`;
    const hint = "refs of keys are unique in the whole scenario: choose another one";
    addProblem({ code: "duplicate_key_ref", field, message, hint, pointAt: "key" });
  }
};

const refsExist: ScenarioRule = (facts) => {
  checkRef("key", facts.scenario.default_key, ["default_key"], facts);
  for (const { path, fields } of facts.keys) {
    checkRef("key", fields.replaced_by, [...path, "replaced_by"], facts);
  }
};

export function checkRef(
  kind: keyof Facts["refs"],
  ref: string | undefined,
  field: FieldPath,
  { refs, addProblem }: Pick<Facts, "refs" | "addProblem">,
): void {
  if (ref === undefined || refs[kind].has(ref)) return;
  addProblem({
    code: `unknown_${kind}_ref`,
    field,
    message: `there is no ${kind} ${quote(ref)}`,
    // Not made for a problem that is not added: it takes time.
    get hint() {
      return knownRefsHint(ref, refs[kind], `${kind}s`);
    },
  });
}

const clockIsWithinYears: ScenarioRule = ({ start = 0, addProblem }) => {
  if (start <= lastClockInstant) return;
  const latest = new Date(lastClockInstant).toISOString();
  const message = `a clock cannot start after ${latest}`;
  addProblem({ code: "out_of_range", field: ["clock", "now"], message, hint: "write an earlier time" });
};

export const refRules: readonly ScenarioRule[] = [clockIsWithinYears, refsAreFree, refsExist];

function knownRefsHint(ref: string, known: Facts["refs"]["key"], things: string): string {
  // Comparing each of many wrong refs with more than this would be slow.
  const near = known.size > 300 ? undefined : nearest(ref, known.keys());
  if (near !== undefined) return `did you mean ${near}?`;
  if (known.size === 0) return `the scenario has no ${things}`;
  const names: string[] = [];
  for (const name of known.keys()) if (names.push(name) === 10) break;
  return `${things} of this scenario: ${names.join(", ")}${known.size > names.length ? ", …" : ""}`;
}
