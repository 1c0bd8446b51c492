import type { ActionName } from "../../scenario/actions.js";
import { canonicalJson } from "../../schema/json.js";
import { writtenFaults } from "../active-faults.js";
import type { SandboxState } from "../sandbox-state.js";
import { viewAssumptions } from "../views.js";

// `sandbox.changes` has the values that users have changed since the start, by name: each as it would be without them. An
// operation reads the values that it can change before it runs and after, and notes the difference:
//
// - A user's first change of a value notes what the value was before. A later one keeps that note, or removes it if the value
//   is again what the note says.
// - A step of the scenario would set its values without users as well. So it removes their notes, even of a value that it sets
//   to what it is already.

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

/** Notes what a user has changed. */
export function noteUserChange(
  changes: SandboxState["changes"],
  before: NamedValues,
  after: NamedValues,
): void {
  for (const [name, value] of Object.entries(after)) {
    const valueBefore = before[name] ?? noValue;
    if (value === valueBefore) continue;

    const withoutUsers = changes.get(name) ?? valueBefore;
    if (value === withoutUsers) changes.delete(name);
    else changes.set(name, withoutUsers);
  }
}

/** Notes what a step of the scenario has changed. `setNames`: the values that it has set, also to what they were already. */
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
    if (key === undefined) continue;
    for (const [member, value] of Object.entries(key)) {
      if (!fixedMembers.includes(member)) values[`key ${ref} ${member}`] = valueText(value);
    }
  }
  return values;
}

function organizationValues({ registry }: SandboxState, refs: readonly string[]): NamedValues {
  const values: Record<string, string> = {};
  for (const ref of refs) {
    const organization = registry.organizations.get(ref)?.organization;
    if (organization === undefined) continue;
    for (const [member, value] of Object.entries(organization)) {
      values[`organization ${ref} ${member}`] = valueText(value);
    }
  }
  return values;
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
  // Other profiles have one value for each assumption; `varied` varies those that the sandbox does not set itself.
  const fixed = sandbox.profile === "varied" ? Object.keys(sandbox.ownAssumptions).sort() : [];
  return { ...values, fixed: valueText(fixed) };
}

function valueText(value: unknown): string {
  return value === undefined ? noValue : canonicalJson(value);
}
