import { canonicalJson } from "../../schema/json-text.js";
import { writtenFaults } from "../active-faults.js";
import type { VirtualClock } from "../clock.js";
import type { SandboxState } from "../sandbox-state.js";
import { type NamedValues, noValue } from "../user-changes.js";
import { viewAssumptions } from "../views.js";

// The values that operations can change, as texts: an operation reads its own before it runs and after. Requests and time change
// none of them.

/** The members of a key that no operation changes. Of a created key, its ref stands for them. */
const fixedMembers: readonly string[] = [
  "organization",
  "environment",
  "legacy",
  "sha256",
  "createdAt",
  "replaces",
];

/** The values of the keys with these refs; of a ref that no key has yet, none. */
export function keyValues({ registry }: SandboxState, refs: readonly (string | undefined)[]): NamedValues {
  const values: Record<string, string> = {};
  for (const ref of refs) {
    if (ref === undefined) continue;
    const key = registry.keys.get(ref)?.key;
    if (key !== undefined) addValues(values, `key ${ref}`, key);
  }
  return values;
}

export function organizationValues({ registry }: SandboxState, ref: string): NamedValues {
  const values: Record<string, string> = {};
  const organization = registry.organizations.get(ref)?.organization;
  if (organization !== undefined) addValues(values, `organization ${ref}`, organization);
  return values;
}

/** Adds the text of each member of a record that an operation may change, by names such as `key main scopes`. */
function addValues(values: Record<string, string>, recordName: string, record: object): void {
  for (const [member, value] of Object.entries(record)) {
    if (!fixedMembers.includes(member)) values[`${recordName} ${member}`] = valueText(value);
  }
}

export function faultValues(sandbox: SandboxState): NamedValues {
  const faults = writtenFaults(sandbox.faults);
  // Requests change this count.
  for (const fault of faults) delete fault.requests_matched;
  return { faults: valueText(faults) };
}

export function assumptionValues(sandbox: SandboxState): NamedValues {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(viewAssumptions(sandbox))) values[name] = valueText(value);
  // With `varied`, it matters which assumptions the sandbox sets itself, even to their usual values: the others vary.
  const ownNames = sandbox.profile === "varied" ? Object.keys(sandbox.ownAssumptions).sort() : [];
  return { ...values, fixed: valueText(ownNames) };
}

/** `isMoved`: whether a user has moved the clock. It never runs backwards, so nothing takes that back. */
export function clockValues(clock: VirtualClock, isMoved: boolean): NamedValues {
  return { frozen: valueText(clock.isFrozen()), moved: valueText(isMoved) };
}

function valueText(value: unknown): string {
  return value === undefined ? noValue : canonicalJson(value);
}
