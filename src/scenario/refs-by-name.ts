import type { Members } from "../schema/problem.js";
import { shapeAt } from "../schema/shape-fields.js";
import { isMapping } from "../schema/type-tag.js";
import { scenarioSchema } from "./format/schema.js";
import type { FieldProblem } from "./problems.js";
import { valueAt } from "./value-at.js";

// People write the name of an organization or a key where its ref belongs: `key: Core banking` for `key: core-banking`.

/** The refs of the things of one kind, by their names in lower case. */
type RefsByName = ReadonlyMap<string, string>;

/** Problems of fields that should have a ref, with the ref of the organization or key that has the written name. */
export function withRefsOfNames(problems: readonly FieldProblem[], scenario: Members): FieldProblem[] {
  // Made once, for a problem that needs it: a scenario may have many keys.
  let refs: Readonly<Record<"key" | "organization", RefsByName>> | undefined;
  return problems.map((problem) => {
    if (problem.code !== "bad_ref" || problem.pointAt === "name") return problem;
    const shape = shapeAt(scenarioSchema, problem.field);
    const name = valueAt(scenario, problem.field);
    if (shape?.kind !== "text" || shape.refersTo === undefined || typeof name !== "string") return problem;

    refs ??= refsByName(scenario);
    const ref = refs[shape.refersTo].get(name.toLowerCase());
    return ref === undefined ? problem : { ...problem, hint: `did you mean ${ref}?` };
  });
}

/** The refs of the organizations and keys that have a name. The scenario may have any shape. */
function refsByName(scenario: Members): Record<"key" | "organization", RefsByName> {
  const organizationRefs = new Map<string, string>();
  const keyRefs = new Map<string, string>();
  for (const [ref, organization] of membersOf(scenario.organizations)) {
    addName(organizationRefs, ref, organization);
    if (!isMapping(organization)) continue;
    for (const [keyRef, key] of membersOf(organization.keys)) addName(keyRefs, keyRef, key);
  }
  return { key: keyRefs, organization: organizationRefs };
}

function addName(refs: Map<string, string>, ref: string, fields: unknown): void {
  if (isMapping(fields) && typeof fields.name === "string") refs.set(fields.name.toLowerCase(), ref);
}

function membersOf(value: unknown): [name: string, member: unknown][] {
  return isMapping(value) ? Object.entries(value) : [];
}
