import { isDeepStrictEqual } from "node:util";
import { nodePlatform } from "../node/platform.js";
import type { RuntimeState } from "../sandbox/state.js";
import { checkScenario, type NamedScenario } from "../scenario/parse-scenario.js";
import { describedKeys, type ScenarioOrganization } from "../scenario/population.js";
import { ScenarioError } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";

/** Returns a hash of a scenario's content. */
export function contentHashOf({ scenario }: Pick<NamedScenario, "scenario">): string {
  return nodePlatform.sha256(JSON.stringify(scenario)).slice(0, 12);
}

/** A sandbox that continues with another scenario, and a readable list of additions. */
export interface Extended {
  readonly state: RuntimeState;
  readonly changes: readonly string[];
}

/** Adds a scenario's new organizations and keys to a sandbox. Returns a message if anything else differs. */
export function extendState(own: RuntimeState, { name, text, scenario }: NamedScenario): Extended | string {
  const { snapshot } = own;
  // Compared as JSON, because one of them was written and read.
  const [before, after] = [own.scenario, scenario].map(
    (one): Scenario => JSON.parse(JSON.stringify(one)),
  ) as [Scenario, Scenario];
  const changed = changedMember(before, after);
  if (changed !== undefined) return `its ${changed} has changed`;
  const olds = before.organizations ?? {};
  const lost = Object.keys(olds).find((ref) => after.organizations?.[ref] === undefined);
  if (lost !== undefined) return `it no longer has the organization "${lost}"`;

  const refs = new Set(Array.from(describedKeys(snapshot), ({ ref }) => ref));
  const organizations = { ...snapshot.organizations };
  const added: string[] = [];
  for (const [ref, organization] of Object.entries(after.organizations ?? {})) {
    const { keys = {}, ...one } = organization;
    const { keys: old = {}, ...other }: ScenarioOrganization = olds[ref] ?? one;
    if (!isDeepStrictEqual(one, other)) return `its organization "${ref}" has changed`;
    const key = Object.keys(old).find((key) => !isDeepStrictEqual(keys[key], old[key]));
    if (key !== undefined) {
      return keys[key] === undefined ? `it no longer has the key "${key}"` : `its key "${key}" has changed`;
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
  const changes = added.length === 0 ? ["the description of the scenario"] : added;
  return problemIn(extended) ?? { state: { ...own, name, text, scenario, snapshot: extended }, changes };
}

/** Returns the first member that must not change, but did. */
function changedMember(before: Scenario, after: Scenario): string | undefined {
  const { organizations: _, name: __, description: ___, ...rest } = { ...before, ...after };
  return (Object.keys(rest) as (keyof Scenario)[]).find(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  );
}

/** With keys created at run time, an organization may now have too many active keys. */
function problemIn(scenario: Scenario): string | undefined {
  try {
    checkScenario(scenario, { mostValues: Number.POSITIVE_INFINITY });
    return undefined;
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    return error.problems[0]?.message.replace(/\.$/, "");
  }
}
