import { isDeepStrictEqual } from "node:util";
import { SandboxError } from "../../domain/errors.js";
import { version } from "../../node/package-files.js";
import { checkScenario, type NamedScenario } from "../../scenario/parse-scenario.js";
import { describedKeys, type ScenarioOrganization } from "../../scenario/population.js";
import { ScenarioError } from "../../scenario/problems/scenario-error.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { listed } from "../../schema/words.js";
import { identityOf, type SavedState } from "./format.js";

/** A state that continues here, and what was changed for that, for people. */
export interface Migrated {
  readonly state: SavedState;
  readonly changes: readonly string[];
}

/**
 * Makes a state continue in this version with the scenario that is served now, which may have more organizations and keys.
 *
 * Unless `isAllowed`, the scenario must be the same. Throws `state_mismatch`, also for a state of another major version.
 */
export function migrateState(
  saved: SavedState,
  served: NamedScenario,
  { given, isAllowed }: { readonly given: string; readonly isAllowed: boolean },
): Migrated {
  const { startedWith, own, version: before = version } = saved;
  const [old, name] = [startedWith.name, served.name].map((one) => JSON.stringify(one));
  const mismatch = (what: string, why: string) => {
    const message = `Failed to ${what} the state ${JSON.stringify(given)}${why}`;
    return new SandboxError("state_mismatch", message, { state: startedWith.name, scenario: served.name });
  };
  if (Number.parseInt(before, 10) !== Number.parseInt(version, 10)) {
    throw mismatch(
      "go on from",
      `: svc-sandbox ${before} wrote it, and ${version} is another major version, which cannot migrate it. Use svc-sandbox ${before}, or name another file.`,
    );
  }
  const updated = before === version ? [] : [`svc-sandbox ${before} to ${version}`];
  const identity = identityOf(served);
  if (identity.sha256 === startedWith.sha256) return { state: saved, changes: updated };
  if (!isAllowed) {
    const why =
      old === name
        ? `the scenario ${name} is another one than when the state began`
        : `it was begun with the scenario ${old}, and this is ${name}`;
    throw mismatch(
      "go on from",
      `: ${why}. Add --migrate if the scenario only has more organizations and keys. Otherwise name another file, or remove this one to start anew.`,
    );
  }
  // Another one was loaded while it ran, and stays.
  if (identityOf(own).sha256 !== startedWith.sha256) {
    return { state: { ...saved, startedWith: identity }, changes: [...updated, `the start from ${name}`] };
  }
  const extended = extend(own.snapshot, own.scenario, served.scenario);
  if (typeof extended === "string") {
    throw mismatch(
      "migrate",
      ` to the scenario ${name}: ${extended}. A scenario may only get more organizations and keys. Undo that change, or name another file.`,
    );
  }
  const { snapshot, added } = extended;
  const state = { ...own, name: served.name, text: served.text, scenario: served.scenario, snapshot };
  const changes = added.length === 0 ? "the description of the scenario" : listed(added, "and");
  return { state: { ...saved, startedWith: identity, own: state }, changes: [...updated, changes] };
}

/** A world with the organizations and keys that its scenario has more now; in words what else is different, if anything. */
function extend(snapshot: Scenario, before: Scenario, after: Scenario) {
  const changed = changedMember(before, after);
  if (changed !== undefined) return `its ${changed} is another one`;
  const olds = before.organizations ?? {};
  const lost = Object.keys(olds).find((ref) => after.organizations?.[ref] === undefined);
  if (lost !== undefined) return `it no longer has the organization "${lost}"`;

  const refs = new Set(Array.from(describedKeys(snapshot), ({ ref }) => ref));
  const organizations = { ...snapshot.organizations };
  const added: string[] = [];
  for (const [ref, organization] of Object.entries(after.organizations ?? {})) {
    const { keys = {}, ...one } = organization;
    const { keys: old = {}, ...other }: ScenarioOrganization = olds[ref] ?? one;
    if (!isDeepStrictEqual(one, other)) return `its organization "${ref}" is another one`;
    const key = Object.keys(old).find((key) => !isDeepStrictEqual(keys[key], old[key]));
    if (key !== undefined) {
      return keys[key] === undefined
        ? `it no longer has the key "${key}"`
        : `its key "${key}" is another one`;
    }
    const more = Object.entries(keys).filter(([key]) => old[key] === undefined);
    const taken = more.find(([key]) => refs.has(key));
    if (taken !== undefined)
      return `its new key "${taken[0]}" has the ref of a key that was made at run time`;
    const running: ScenarioOrganization = organizations[ref] ?? one;
    organizations[ref] = { ...running, keys: { ...running.keys, ...Object.fromEntries(more) } };
    added.push(...(ref in olds ? more.map(([key]) => `the key "${key}"`) : [`the organization "${ref}"`]));
  }
  const extended = { ...snapshot, organizations };
  return problemIn(extended) ?? { snapshot: extended, added };
}

/** The first member of a scenario that must stay equal, and is not. */
function changedMember(before: Scenario, after: Scenario): string | undefined {
  const { organizations: _, name: __, description: ___, ...rest } = { ...before, ...after };
  return (Object.keys(rest) as (keyof Scenario)[]).find(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  );
}

/** An organization may have too many active keys now, with those that were made at run time. */
function problemIn(scenario: Scenario): string | undefined {
  try {
    checkScenario(scenario, { mostValues: Number.POSITIVE_INFINITY });
    return undefined;
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    return error.problems[0]?.message.replace(/\.$/, "");
  }
}
