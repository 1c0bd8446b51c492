import type { ActionName } from "../../rules/actions.js";
import { forEachEnd, type KeyRecord } from "../../rules/api-key.js";
import { canonicalJson } from "../../rules/schema/json.js";
import { writtenFaults } from "../active-faults.js";
import type { SandboxState } from "../sandbox-state.js";
import { viewAssumptions } from "../views.js";

type Values = Readonly<Record<string, unknown>>;

/** The values that an operation on the things with these refs can change. Requests and time change none of them. */
type ReadValues = (sandbox: SandboxState, refs: readonly string[]) => Values;

const changeable: Readonly<Record<ActionName | "clock", ReadValues>> = {
  create_key: keyValues,
  rotate: keyValues,
  revoke: keyValues,
  expire: keyValues,
  organization: organizationValues,
  faults: ({ faults }) => ({
    faults: writtenFaults(faults).map(({ requests_matched: _, ...fault }) => fault),
  }),
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
    const { name, scopes, limits, replacedBy } = key;
    const members: ChangeableMembers = {
      ...{ ref, name, scopes, limits, replacedBy },
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

function assumptionValues(sandbox: SandboxState): Values {
  // Other profiles have one value for each assumption; `varied` varies those that the sandbox does not set itself.
  const fixed = sandbox.profile === "varied" ? Object.keys(sandbox.ownAssumptions).sort() : [];
  return { ...viewAssumptions(sandbox), fixed };
}

/**
 * Runs an operation, and records in `sandbox.changes` the values that users have changed with it. A value that a step
 * of the scenario changes is as it would be without users.
 */
export function recordChanges<Result>(
  sandbox: SandboxState,
  name: keyof typeof changeable,
  refs: readonly string[],
  isScripted: boolean,
  run: () => Result,
): Result {
  // A listener may start another scenario.
  const { changes } = sandbox;
  const before = changeable[name](sandbox, refs);
  const result = run();
  for (const [value, now] of Object.entries(changeable[name](sandbox, [...refs, ...keysChangedBy(result)]))) {
    const [earlier, later] = [textOf(before[value]), textOf(now)];
    if (earlier === later) continue;
    const withoutUsers = isScripted ? later : (changes.get(value) ?? earlier);
    if (withoutUsers === later) changes.delete(value);
    else changes.set(value, withoutUsers);
  }
  return result;
}

/** The refs of the keys that an operation has changed or created. */
function keysChangedBy(result: unknown): string[] {
  const { key, replacement } = (result ?? {}) as Partial<Record<"key" | "replacement", { ref: string }>>;
  return [key, replacement].flatMap((one) => one?.ref ?? []);
}

function textOf(value: unknown): string {
  return value === undefined ? "" : canonicalJson(value);
}
