import type { Members } from "../schema/problem.js";
import { isMapping, valueAt } from "../schema/shape.js";
import type { FieldProblem } from "./problems.js";

/** Problems of fields that should have a ref, with the ref of the organization or key that has the written name. */
export function withRefsOfNames(problems: readonly FieldProblem[], scenario: Members): FieldProblem[] {
  // Made once, for a problem that needs it: a scenario may have many keys.
  let refs: ReadonlyMap<string, string> | undefined;
  return problems.map((problem) => {
    if (problem.code !== "bad_ref" || problem.pointAt === "key") return problem;
    const name = valueAt(scenario, problem.field);
    refs ??= refsByName(scenario);
    const ref = typeof name === "string" ? refs.get(name.toLowerCase()) : undefined;
    return ref === undefined ? problem : { ...problem, hint: `did you mean ${ref}?` };
  });
}

/** The refs of the organizations and keys that have a name. The scenario may have any shape. */
function refsByName(scenario: Members): ReadonlyMap<string, string> {
  const refs = new Map<string, string>();
  for (const [ref, organization] of membersOf(scenario.organizations)) {
    addName(refs, ref, organization);
    if (!isMapping(organization)) continue;
    for (const [keyRef, key] of membersOf(organization.keys)) addName(refs, keyRef, key);
  }
  return refs;
}

function addName(refs: Map<string, string>, ref: string, fields: unknown): void {
  if (isMapping(fields) && typeof fields.name === "string") refs.set(fields.name.toLowerCase(), ref);
}

function membersOf(value: unknown): [name: string, member: unknown][] {
  return isMapping(value) ? Object.entries(value) : [];
}
