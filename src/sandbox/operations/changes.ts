import type { ActionName } from "../../scenario/actions.js";
import { canonicalJson } from "../../schema/json-text.js";
import { writtenFaults } from "../active-faults.js";
import type { SandboxState } from "../sandbox-state.js";
import { viewAssumptions } from "../views.js";

// `sandbox.changes` has a note for each value that users have changed since the start: by its name, what it would be without
// them. An operation reads the values that it can change before it runs and after, and notes the difference.

/** Values of a sandbox as texts to compare, by names such as `key main name`. */
type NamedValues = Readonly<Record<string, string>>;

type ReadValues = (sandbox: SandboxState, refs: readonly string[]) => NamedValues;

/** The text of a value that is not there. */
const noValue = "";

/** How to read the values that each operation can change. Requests and time change none of them. */
const valuesByOperation: Readonly<Record<ActionName | "clock", ReadValues>> = {
  create_key: keyValues,
  rotate: keyValues,
  revoke: keyValues,
  expire: keyValues,
  organization: organizationValues,
  faults: faultValues,
  assumptions: assumptionValues,
  clock: ({ clock }) => ({ frozen: valueText(clock.isFrozen()) }),
};

/** The members of a key that no operation changes. Of a created key, its ref stands for them. */
const fixedMembers: readonly string[] = [
  "organization",
  "environment",
  "legacy",
  "sha256",
  "createdAt",
  "replaces",
];

/** All values that an operation can change. `refs`: those of the keys or the organization that it changes. */
export function changeableValues(
  sandbox: SandboxState,
  operation: ActionName | "clock",
  refs: readonly string[] = [],
): NamedValues {
  return valuesByOperation[operation](sandbox, refs);
}

/** Notes what a user has changed: of each value, what it was before the first change. A value that is so again has no note. */
export function noteUserChange(
  changes: SandboxState["changes"],
  before: NamedValues,
  after: NamedValues,
): void {
  for (const [name, value] of Object.entries(after)) {
    const valueBefore = before[name] ?? noValue;
    if (value === valueBefore) continue;

    const noted = changes.get(name);
    if (noted === undefined) changes.set(name, valueBefore);
    if (noted === value) changes.delete(name);
  }
}

/**
 * Removes the notes of what a step of the scenario has changed, since it would have without users as well. `setNames`: the values
 * that it has set, even to what they were before.
 */
export function noteStepChange(
  changes: SandboxState["changes"],
  before: NamedValues,
  after: NamedValues,
  setNames: readonly string[] = [],
): void {
  for (const [name, value] of Object.entries(after)) {
    const isChanged = value !== (before[name] ?? noValue);
    if (isChanged || setNames.includes(name)) changes.delete(name);
  }
}

function keyValues({ registry }: SandboxState, refs: readonly string[]): NamedValues {
  const values: Record<string, string> = {};
  for (const ref of refs) {
    const key = registry.keys.get(ref)?.key;
    if (key !== undefined) addValues(values, `key ${ref}`, key);
  }
  return values;
}

function organizationValues({ registry }: SandboxState, refs: readonly string[]): NamedValues {
  const values: Record<string, string> = {};
  for (const ref of refs) {
    const organization = registry.organizations.get(ref)?.organization;
    if (organization !== undefined) addValues(values, `organization ${ref}`, organization);
  }
  return values;
}

/** Adds the text of each member of a record that an operation may change, by names such as `key main scopes`. */
function addValues(values: Record<string, string>, recordName: string, record: object): void {
  for (const [member, value] of Object.entries(record)) {
    if (!fixedMembers.includes(member)) values[`${recordName} ${member}`] = valueText(value);
  }
}

function faultValues(sandbox: SandboxState): NamedValues {
  const faults = writtenFaults(sandbox.faults);
  // Requests change this count.
  for (const fault of faults) delete fault.requests_matched;
  return { faults: valueText(faults) };
}

function assumptionValues(sandbox: SandboxState): NamedValues {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(viewAssumptions(sandbox))) values[name] = valueText(value);
  // With `varied`, it matters which assumptions the sandbox sets itself, even to their usual values: the others vary.
  const fixed = sandbox.profile === "varied" ? Object.keys(sandbox.ownAssumptions).sort() : [];
  return { ...values, fixed: valueText(fixed) };
}

function valueText(value: unknown): string {
  return value === undefined ? noValue : canonicalJson(value);
}
