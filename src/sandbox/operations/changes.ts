import type { ActionName } from "../../rules/actions.js";
import { canonicalJson } from "../../schema/json.js";
import { writtenFaults } from "../active-faults.js";
import type { SandboxState } from "../sandbox-state.js";
import { viewAssumptions } from "../views.js";

/** Values of a sandbox by their names, such as `key main name`. */
type NamedValues = Readonly<Record<string, unknown>>;

type ReadValues = (sandbox: SandboxState, refs: readonly string[]) => NamedValues;

/** By operation: how to read all values that it can change, on the things with these refs. Requests and time change none of them. */
const valuesChangedBy: Readonly<Record<ActionName | "clock", ReadValues>> = {
  create_key: keyValues,
  rotate: keyValues,
  revoke: keyValues,
  expire: keyValues,
  organization: organizationValues,
  faults: faultValues,
  assumptions: assumptionValues,
  clock: ({ clock }) => ({ frozen: clock.isFrozen() }),
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

/** An operation that is recorded, once. */
interface RecordedChange<Result> {
  readonly operation: keyof typeof valuesChangedBy;
  /** Whether the scenario runs it, not a user. */
  readonly isScripted: boolean;
  /** The refs of the keys or the organization that it changes. */
  readonly refs: readonly string[];
  /** Those that only its result shows, such as of a key that it creates. Default: none. */
  readonly newRefs?: ((result: Result) => readonly string[]) | undefined;
  /** The names of the values that it has set, also to what they were already. Default: only those that change. */
  readonly namesOfSet?: (() => readonly string[]) | undefined;
  readonly run: () => Result;
}

/**
 * Runs an operation, and keeps `sandbox.changes` up to date: the values that users have changed since the start, each with
 * the value that it would have without them.
 *
 * - A user's first change of a value notes what the value was before.
 * - A user's later change keeps that note, or removes it if the value is what the note says again.
 * - A step of the scenario would set its value without users as well, so it removes the note, even if the value stays the same.
 */
export function recordChanges<Result>(sandbox: SandboxState, change: RecordedChange<Result>): Result {
  const { operation, isScripted, refs, newRefs = () => [], namesOfSet = () => [], run } = change;
  // Read before, because a listener of the operation's event may start another scenario, with its own changes.
  const { changes } = sandbox;
  const readValues = valuesChangedBy[operation];

  const valuesBefore = readValues(sandbox, refs);
  const result = run();
  const valuesAfter = readValues(sandbox, [...refs, ...newRefs(result)]);
  // Only now: the operation has checked its input.
  const namesSet = namesOfSet();

  for (const [name, value] of Object.entries(valuesAfter)) {
    const before = comparableText(valuesBefore[name]);
    const after = comparableText(value);

    // A step of the scenario: without users, it would leave the same value.
    if (isScripted) {
      if (before !== after || namesSet.includes(name)) changes.delete(name);
      continue;
    }

    // A user. The first note stays, until the value is again what it says.
    if (before === after) continue;
    const withoutUsers = changes.get(name) ?? before;
    if (after === withoutUsers) changes.delete(name);
    else changes.set(name, withoutUsers);
  }
  return result;
}

function keyValues({ registry }: SandboxState, refs: readonly string[]): NamedValues {
  const values: Record<string, unknown> = {};
  for (const ref of refs) {
    const key = registry.keys.get(ref)?.key;
    if (key === undefined) continue;
    for (const [member, value] of Object.entries(key)) {
      if (!fixedMembers.includes(member)) values[`key ${ref} ${member}`] = value;
    }
  }
  return values;
}

function organizationValues({ registry }: SandboxState, refs: readonly string[]): NamedValues {
  const values: Record<string, unknown> = {};
  for (const ref of refs) {
    const organization = registry.organizations.get(ref)?.organization;
    if (organization === undefined) continue;
    for (const [member, value] of Object.entries(organization)) {
      values[`organization ${ref} ${member}`] = value;
    }
  }
  return values;
}

function faultValues(sandbox: SandboxState): NamedValues {
  const faults = writtenFaults(sandbox.faults);
  // Requests change this count.
  for (const fault of faults) delete fault.requests_matched;
  return { faults };
}

function assumptionValues(sandbox: SandboxState): NamedValues {
  // Other profiles have one value for each assumption; `varied` varies those that the sandbox does not set itself.
  const fixed = sandbox.profile === "varied" ? Object.keys(sandbox.ownAssumptions).sort() : [];
  return { ...viewAssumptions(sandbox), fixed };
}

/** The text by which two values are compared; empty for no value. */
function comparableText(value: unknown): string {
  return value === undefined ? "" : canonicalJson(value);
}
