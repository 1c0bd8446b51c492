import { defaultSeed } from "../../rules/seed.js";
import type { FieldPath } from "../../schema/shape.js";
import { quote } from "../../schema/words.js";
import {
  allKeys,
  allOrganizations,
  fieldOfKey,
  listedKeys,
  organizationIdOf,
  scenarioSecret,
  unknownSecret,
} from "../keys.js";
import type { ProblemList } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";

// Secrets and ids are unique. Each start checks this again, with its own seed: so this file imports no other rules.

/** A secret or an id, which is pinned in the scenario or derived from the seed. */
interface PinnedOrDerived {
  /** The ref of the key or organization that has it. */
  readonly owner: string;
  readonly field: FieldPath;
  readonly pinned: string | undefined;
  /** Makes the value that the seed derives, which takes time. */
  readonly derive: () => string;
}

/** Finds each pinned secret and id that another key or organization has, pinned or derived from the seed (R12). */
export function checkDuplicates(scenario: Scenario, problems: ProblemList): void {
  // Only a pinned value can be the same as another one, and to compare derives those of the whole population.
  if (!hasPinnedValue(scenario)) return;

  const { seed = defaultSeed } = scenario;
  const secrets: PinnedOrDerived[] = [];
  for (const key of allKeys(scenario)) {
    secrets.push({
      owner: key.ref,
      field: fieldOfKey(key),
      pinned: key.fields.secret,
      derive: () => scenarioSecret(key, seed),
    });
  }
  // The key that requests of stories send as `unknown`: no key of the scenario may have its secret.
  secrets.push({ owner: "unknown", field: [], pinned: undefined, derive: () => unknownSecret(seed) });

  const ids: PinnedOrDerived[] = [];
  for (const [ref, fields] of allOrganizations(scenario)) {
    const field = ["organizations", ref];
    ids.push({ owner: ref, field, pinned: fields.id, derive: () => organizationIdOf(ref, fields, seed) });
  }

  checkApart(secrets, "duplicate_secret", (owner) => `the key ${owner} has the same secret`, problems);
  checkApart(ids, "duplicate_organization_id", (owner) => `${owner} has the same id`, problems);
}

function hasPinnedValue(scenario: Scenario): boolean {
  for (const { id } of Object.values(scenario.organizations ?? {})) {
    if (id !== undefined) return true;
  }
  for (const { fields } of listedKeys(scenario)) {
    if (fields.secret !== undefined) return true;
  }
  return false;
}

function checkApart(
  values: readonly PinnedOrDerived[],
  code: "duplicate_secret" | "duplicate_organization_id",
  messageOf: (owner: string) => string,
  problems: ProblemList,
): void {
  const hasPinned = values.some(({ pinned }) => pinned !== undefined);
  if (!hasPinned) return;

  // Derived values first: a pinned one that is the same has to change, wherever it stands.
  const ownerByValue = new Map<string, string>();
  for (const { owner, pinned, derive } of values) {
    if (pinned === undefined) ownerByValue.set(derive(), owner);
  }

  for (const { owner, field, pinned } of values) {
    if (pinned === undefined) continue;
    const earlierOwner = ownerByValue.get(pinned);
    if (earlierOwner === undefined) {
      ownerByValue.set(pinned, owner);
      continue;
    }
    const message = messageOf(quote(earlierOwner));
    problems.add(code, field, message, "give each its own, or remove it and the seed generates one", "name");
  }
}
