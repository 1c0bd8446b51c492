import { isDeepStrictEqual } from "node:util";
import { SandboxError } from "../../domain/errors.js";
import { version } from "../../node/package-files.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import type { ScenarioOrganization } from "../../scenario/population.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { listed } from "../../schema/words.js";
import { identityOf, type SavedState } from "./format.js";

/** A state that continues here, and what was changed for that. */
export interface Migrated {
  readonly state: SavedState;
  /** For people; empty if nothing was. */
  readonly changes: readonly string[];
}

/**
 * Makes a state continue in this version with the scenario that is served now, which may have more organizations and keys.
 *
 * Without `isAllowed` the scenario must be the same. Throws `state_mismatch`, also for a state of another major version.
 */
export function migrateState(
  saved: SavedState,
  served: NamedScenario,
  { given, isAllowed }: { readonly given: string; readonly isAllowed: boolean },
): Migrated {
  const { startedWith, version: before = version } = saved;
  if (majorOf(before) !== majorOf(version)) {
    throw mismatch(
      saved,
      served,
      `Failed to go on from the state ${JSON.stringify(given)}: svc-sandbox ${before} wrote it, and ${version} is another major version, which cannot migrate it. Use svc-sandbox ${before}, or name another file.`,
    );
  }
  const updated = before === version ? [] : [`svc-sandbox ${before} to ${version}`];
  const identity = identityOf(served);
  if (identity.sha256 === startedWith.sha256) return { state: saved, changes: updated };
  const [old, own] = [JSON.stringify(startedWith.name), JSON.stringify(served.name)];
  if (!isAllowed) {
    const why =
      old === own
        ? `the scenario ${own} is another one than when the state began`
        : `it was begun with the scenario ${old}, and this is ${own}`;
    throw mismatch(
      saved,
      served,
      `Failed to go on from the state ${JSON.stringify(given)}: ${why}. Add --migrate if the scenario only has more organizations and keys. Otherwise name another file, or remove this one to start anew.`,
    );
  }
  const { own: state } = saved;
  // Another one was loaded while it ran, and stays.
  const isReplaced = identityOf(state).sha256 !== startedWith.sha256;
  if (isReplaced) {
    return { state: { ...saved, startedWith: identity }, changes: [...updated, `the start from ${own}`] };
  }
  const problem = differenceOf(state.scenario, served.scenario, state.snapshot);
  if (problem !== undefined) {
    throw mismatch(
      saved,
      served,
      `Failed to migrate the state ${JSON.stringify(given)} to the scenario ${own}: ${problem}. A scenario may only get more organizations and keys. Undo that change, or name another file.`,
    );
  }
  const { snapshot, added } = extended(state.snapshot, state.scenario, served.scenario);
  return {
    state: {
      ...saved,
      startedWith: identity,
      own: { ...state, name: served.name, text: served.text, scenario: served.scenario, snapshot },
    },
    changes: [...updated, added.length === 0 ? "the name of the scenario" : listed(added, "and")],
  };
}

function mismatch({ startedWith }: SavedState, { name }: NamedScenario, message: string): SandboxError {
  return new SandboxError("state_mismatch", message, { state: startedWith.name, scenario: name });
}

type Organizations = Readonly<Record<string, ScenarioOrganization>>;

/** Why a scenario does more than add to another one that has run; `undefined` if it does not. */
function differenceOf(before: Scenario, after: Scenario, snapshot: Scenario): string | undefined {
  const rest = ({ organizations: _, name: __, description: ___, ...others }: Scenario) => others;
  for (const name of Object.keys({ ...rest(after), ...rest(before) })) {
    const [one, other] = [before, after].map((scenario) => scenario[name as keyof Scenario]);
    if (!isDeepStrictEqual(one, other)) return `its ${name} is another one`;
  }
  const [old, now, running] = [before, after, snapshot].map(({ organizations = {} }) => organizations) as [
    Organizations,
    Organizations,
    Organizations,
  ];
  for (const [ref, { keys = {}, ...one }] of Object.entries(old)) {
    const { keys: keysNow = {}, ...other } = now[ref] ?? {};
    if (now[ref] === undefined) return `it no longer has the organization "${ref}"`;
    if (!isDeepStrictEqual(one, other)) return `its organization "${ref}" is another one`;
    for (const [key, one] of Object.entries(keys)) {
      if (keysNow[key] === undefined) return `it no longer has the key "${key}" in "${ref}"`;
      if (!isDeepStrictEqual(one, keysNow[key])) return `its key "${key}" is another one`;
    }
  }
  const made = new Set(Object.values(running).flatMap(({ keys = {} }) => Object.keys(keys)));
  for (const [ref, { keys = {} }] of Object.entries(now)) {
    const taken = Object.keys(keys).find((key) => old[ref]?.keys?.[key] === undefined && made.has(key));
    if (taken !== undefined) return `its new key "${taken}" has the name of a key that was made at run time`;
  }
  return undefined;
}

/** A world with the organizations and keys that its scenario has more now. */
function extended(snapshot: Scenario, before: Scenario, after: Scenario) {
  const organizations: Record<string, ScenarioOrganization> = { ...snapshot.organizations };
  const added: string[] = [];
  for (const [ref, organization] of Object.entries(after.organizations ?? {})) {
    const old = before.organizations?.[ref];
    const running = organizations[ref];
    if (old === undefined || running === undefined) {
      organizations[ref] = organization;
      added.push(`the organization "${ref}"`);
      continue;
    }
    const more = Object.entries(organization.keys ?? {}).filter(([key]) => old.keys?.[key] === undefined);
    if (more.length === 0) continue;
    organizations[ref] = { ...running, keys: { ...running.keys, ...Object.fromEntries(more) } };
    added.push(...more.map(([key]) => `the key "${key}"`));
  }
  return { snapshot: { ...snapshot, organizations }, added };
}

function majorOf(text: string): number {
  return Number.parseInt(text, 10);
}
