import type { ActionName } from "../../rules/actions.js";
import { forEachEnd, type KeyRecord } from "../../rules/api-key.js";
import { canonicalJson } from "../../rules/schema/json.js";
import { writtenFaults } from "../active-faults.js";
import type { SandboxState } from "../sandbox-state.js";
import { viewAssumptions } from "../views.js";

/** Values of a sandbox by their names, such as `key main name`. */
type Values = Readonly<Record<string, unknown>>;

/** The values that an operation on the things with these refs can change. Requests and time change none of them. */
type ReadValues = (sandbox: SandboxState, refs: readonly string[]) => Values;

const changeable: Readonly<Record<ActionName | "clock", ReadValues>> = {
  create_key: keyValues,
  rotate: keyValues,
  revoke: keyValues,
  expire: keyValues,
  organization: organizationValues,
  faults: faultValues,
  assumptions: assumptionValues,
  clock: ({ clock }) => ({ frozen: clock.isFrozen() }),
};

/** What a key is from its creation on. Of a created key, its ref stands for them. */
type FixedMember = "organization" | "environment" | "legacy" | "sha256" | "replaces";
type ChangeableMembers = Readonly<Record<Exclude<keyof KeyRecord, FixedMember>, unknown>>;

function keyValues({ registry }: SandboxState, refs: readonly string[]): Values {
  const values: Record<string, unknown> = {};
  for (const ref of refs) {
    const key = registry.keys.get(ref)?.key;
    if (key === undefined) continue;
    const members: ChangeableMembers = {
      ref,
      name: key.name,
      scopes: key.scopes,
      limits: key.limits,
      replacedBy: key.replacedBy,
      ...forEachEnd((end) => key[end]),
    };
    for (const [name, value] of Object.entries(members)) values[`key ${ref} ${name}`] = value;
  }
  return values;
}

function organizationValues({ registry }: SandboxState, refs: readonly string[]): Values {
  const values: Record<string, unknown> = {};
  for (const ref of refs) {
    const members = registry.organizations.get(ref)?.organization ?? {};
    for (const [name, value] of Object.entries(members)) values[`organization ${ref} ${name}`] = value;
  }
  return values;
}

function faultValues(sandbox: SandboxState): Values {
  const faults = writtenFaults(sandbox.faults);
  // Requests change this count.
  for (const fault of faults) delete fault.requests_matched;
  return { faults };
}

function assumptionValues(sandbox: SandboxState): Values {
  // Other profiles have one value for each assumption; `varied` varies those that the sandbox does not set itself.
  const fixed = sandbox.profile === "varied" ? Object.keys(sandbox.ownAssumptions).sort() : [];
  return { ...viewAssumptions(sandbox), fixed };
}

/**
 * Runs an operation, and records in `sandbox.changes` the values that users have changed with it: each with what it
 * would be without users, which is its value before their first change of it. One that is so again is not changed, nor
 * is one that a step of the scenario has set since.
 */
export function recordChanges<Result>(
  sandbox: SandboxState,
  name: keyof typeof changeable,
  refs: readonly string[],
  isScripted: boolean,
  run: () => Result,
): Result {
  // Read before, because a listener may start another scenario.
  const { changes } = sandbox;
  const readValues = changeable[name];
  const valuesBefore = readValues(sandbox, refs);
  const result = run();
  const valuesAfter = readValues(sandbox, [...refs, ...keysChangedBy(result)]);

  for (const [valueName, value] of Object.entries(valuesAfter)) {
    const before = textOf(valuesBefore[valueName]);
    const after = textOf(value);
    if (before === after) continue;

    // A step of the scenario sets the same value without users.
    const withoutUsers = isScripted ? after : (changes.get(valueName) ?? before);
    if (after === withoutUsers) changes.delete(valueName);
    else changes.set(valueName, withoutUsers);
  }
  return result;
}

/** The refs of the keys that an operation has changed or created. */
function keysChangedBy(result: unknown): string[] {
  const { key, replacement } = (result ?? {}) as Partial<Record<"key" | "replacement", { ref: string }>>;
  const refs: string[] = [];
  if (key) refs.push(key.ref);
  if (replacement) refs.push(replacement.ref);
  return refs;
}

/** The text by which two values are compared; empty for none. */
function textOf(value: unknown): string {
  return value === undefined ? "" : canonicalJson(value);
}
