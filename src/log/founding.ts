import { isDeepStrictEqual } from "node:util";
import { version } from "../node/package-files.js";
import { nodePlatform } from "../node/platform.js";
import type { SavedSandbox } from "../sandbox/start.js";
import { checkScenario, type NamedScenario } from "../scenario/parse-scenario.js";
import { describedKeys, type ScenarioOrganization } from "../scenario/population.js";
import { ScenarioError } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { SandboxError } from "../spec/errors.js";
import { listed } from "../spec/schema/words.js";

/** What a stored sandbox was started with. Members are named like the flags, for messages about a difference. */
export type Founding = Readonly<Record<string, unknown>>;

/** The member with the hash of the scenario's content, which is the same for a moved file. */
export const content = "content of the scenario";
/** The members that `--migrate` changes. */
const migrated = ["version", "scenario", content, "--max-instances", "--instance-ttl"];

const hashes = new WeakMap<object, string>();

/** Returns a hash of a scenario's content. */
export function contentHashOf({ scenario }: Pick<NamedScenario, "scenario">): string {
  const hash = hashes.get(scenario) ?? nodePlatform.sha256(JSON.stringify(scenario));
  hashes.set(scenario, hash);
  return hash;
}

/** Returns the founding of a scenario in this version, with other options that must stay. */
export function foundingOf(named: NamedScenario, others: Founding = {}): Founding {
  const hash = contentHashOf(named).slice(0, 12);
  return { version, scenario: named.name, [content]: hash, ...others };
}

/** Where a sandbox is stored, for messages. */
interface Stored {
  readonly code: "state_mismatch" | "store_mismatch";
  /** `The state "state.json"`. */
  readonly what: string;
  /** What else the user can do. */
  readonly elsewhere: string;
}

/** The error for a sandbox with another founding; it names the different members. */
export function otherFounding(
  { code, what, elsewhere }: Stored,
  theirs: Founding,
  ours: Founding,
): SandboxError {
  const names = differencesOf(theirs, ours);
  const show = (members: Founding) => {
    const shown = names.map(
      (name) => `${name} ${name in members ? JSON.stringify(members[name]) : "(none)"}`,
    );
    return listed(shown, "and");
  };
  return new SandboxError(
    code,
    `${what} was started with ${show(theirs)}, and this one has ${show(ours)}. ${canMigrate(theirs, ours) ? "Add --migrate to continue it, start" : "Start"} this one with the same, or ${elsewhere}.`,
    { stored: theirs, own: ours },
  );
}

/** Returns the names of the members that differ. */
function differencesOf(theirs: Founding, ours: Founding): string[] {
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return [...names].filter((name) => JSON.stringify(theirs[name]) !== JSON.stringify(ours[name]));
}

export function isSameMajor(theirs: Founding, ours: Founding): boolean {
  return Number.parseInt(String(theirs.version), 10) === Number.parseInt(String(ours.version), 10);
}

/** Whether a sandbox with another founding may be migrated: not from a later or another major version. */
export function canMigrate(theirs: Founding, ours: Founding): boolean {
  const [before, now] = [theirs, ours].map((one) => String(one.version)) as [string, string];
  const isLater = now.localeCompare(before, "en", { numeric: true }) >= 0;
  const names = differencesOf(theirs, ours);
  return isLater && isSameMajor(theirs, ours) && names.every((name) => migrated.includes(name));
}

/** Returns readable changes of version and flags. */
export function changesOf(theirs: Founding, ours: Founding): string[] {
  return differencesOf(theirs, ours).flatMap((name) => {
    if (name !== "version" && !name.startsWith("--")) return [];
    return `${name === "version" ? "svc-sandbox" : name} ${theirs[name]} to ${ours[name]}`;
  });
}

/** Returns the additions, or throws an error with the reason why a scenario cannot extend the stored one. */
export function requireExtended({ code, what, elsewhere }: Stored, extended: Extended | string): Extended {
  if (typeof extended !== "string") return extended;
  throw new SandboxError(
    code,
    `Failed to migrate ${what.replace(/^T/, "t")}: ${extended}. A scenario may only get more organizations and keys. Undo that change, or ${elsewhere}.`,
  );
}

/** Extends a sandbox that was started with the scenario with the hash `from`; another scenario, loaded at run time, stays. */
export function extendStarted(own: SavedSandbox, from: string, named: NamedScenario): Extended | string {
  const isStarted = contentHashOf(own).slice(0, 12) === from;
  return isStarted ? extendState(own, named) : { state: own, changes: [`the start from "${named.name}"`] };
}

/** A sandbox that continues with another scenario, and a readable list of additions. */
export interface Extended {
  readonly state: SavedSandbox;
  readonly changes: readonly string[];
}

/** Adds a scenario's new organizations and keys to a sandbox. Returns a message if anything else differs. */
function extendState(own: SavedSandbox, { name, text, scenario }: NamedScenario): Extended | string {
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

  const organizations = { ...snapshot.organizations };
  const refs = new Set(Array.from(describedKeys(snapshot), ({ ref }) => ref));
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
