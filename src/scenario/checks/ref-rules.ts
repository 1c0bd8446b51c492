import { lastClockInstant } from "../../rules/api-key.js";
import type { FieldPath } from "../../schema/shape.js";
import { nearest, quote } from "../../schema/words.js";
import { fieldOfKey } from "../described-keys.js";
import { isReserved } from "../format/fields.js";
import { isPopulated } from "../population.js";
import type { Facts, ScenarioRule } from "./facts.js";

/** There is an organization, and each ref of an organization or a key is unique and no other word. */
const refsAreFree: ScenarioRule = (facts) => {
  const { scenario, organizations, keys, keyByRef, addProblem } = facts;
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

  const checkFree = (ref: string, field: FieldPath) => {
    if (!isPopulated(ref, population)) return;
    addProblem({
      code: "taken_by_population",
      field,
      pointAt: "key",
      message: `the population has the ref ${quote(ref)}`,
      hint: "choose another one: the population uses organization-1, organization-1-key-1 and so on",
    });
  };
  for (const ref of organizations.keys()) checkFree(ref, ["organizations", ref]);

  for (const key of keys) {
    const { ref } = key;
    const path = fieldOfKey(key);
    checkFree(ref, path);
    if (isReserved(ref)) {
      addProblem({
        code: "reserved_key_ref",
        field: path,
        pointAt: "key",
        message: `a key cannot have the ref ${quote(ref)}: stories use this word instead of a key`,
        hint: `call it ${ref}-key`,
      });
    }

    const first = keyByRef.get(ref);
    if (first === undefined || first === key) continue;
    const message = `${quote(first.organization)} already has a key ${quote(ref)}`;
    const hint = "refs of keys are unique in the whole scenario: choose another one";
    addProblem({ code: "duplicate_key_ref", field: path, message, hint, pointAt: "key" });
  }
};

/** The default key and each replacement exist. */
const refsExist: ScenarioRule = (facts) => {
  checkRef("key", facts.scenario.default_key, ["default_key"], facts);
  for (const key of facts.keys) {
    checkRef("key", key.fields.replaced_by, [...fieldOfKey(key), "replaced_by"], facts);
  }
};

/** The clock can still move after its start. */
const clockIsWithinYears: ScenarioRule = (facts) => {
  const { start } = facts;
  if (start === undefined || start <= lastClockInstant) return;
  facts.addProblem({
    code: "out_of_range",
    field: ["clock", "now"],
    message: `a clock cannot start after ${new Date(lastClockInstant).toISOString()}`,
    hint: "write an earlier time",
  });
};

export const refRules: readonly ScenarioRule[] = [clockIsWithinYears, refsAreFree, refsExist];

/** A hint lists at most this many refs. */
const maxRefsShown = 10;
/** To compare each of many wrong refs with more than this would be slow. */
const maxRefsCompared = 300;

/** The refs that there are, and where the problem of another one goes. */
interface RefChecks {
  readonly refs: Facts["refs"];
  readonly addProblem: Facts["addProblem"];
}

/** Adds a problem for a ref of nothing; one that is left out is fine. */
export function checkRef(
  kind: keyof Facts["refs"],
  ref: string | undefined,
  field: FieldPath,
  checks: RefChecks,
): void {
  const knownRefs = checks.refs[kind];
  if (ref === undefined || knownRefs.has(ref)) return;
  const problem = {
    code: `unknown_${kind}_ref`,
    field,
    message: `there is no ${kind} ${quote(ref)}`,
  } as const;
  checks.addProblem(problem, () => knownRefsHint(ref, knownRefs, `${kind}s`));
}

function knownRefsHint(ref: string, known: Facts["refs"]["key"], things: string): string {
  if (known.size === 0) return `the scenario has no ${things}`;
  const near = known.size > maxRefsCompared ? undefined : nearest(ref, known.keys());
  if (near !== undefined) return `did you mean ${near}?`;

  const names: string[] = [];
  for (const name of known.keys()) {
    names.push(name);
    if (names.length === maxRefsShown) break;
  }
  const more = known.size > names.length ? ", …" : "";
  return `${things} of this scenario: ${names.join(", ")}${more}`;
}
