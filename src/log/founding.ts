import { isDeepStrictEqual } from "node:util";
import { version } from "../node/package-files.js";
import { nodePlatform } from "../node/platform.js";
import type { SavedSandbox } from "../sandbox/start.js";
import { checkScenario, type NamedScenario } from "../scenario/parse-scenario.js";
import { describedKeys } from "../scenario/population.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { SandboxError } from "../spec/errors.js";
import { isMapping } from "../spec/schema/shape.js";
import { listed } from "../spec/schema/words.js";

/** What a stored sandbox was started with. Members are named like the flags, for messages about a difference. */
export type Founding = Readonly<Record<string, unknown>>;

/** The member with the hash of the scenario's content, which is the same for a moved file. */
export const content = "content of the scenario";
const migrated = ["version", "scenario", content, "--max-instances", "--instance-ttl"];

const hashes = new WeakMap<object, string>();

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

type Stored = Readonly<Record<"what" | "elsewhere", string>> & {
  readonly code: "state_mismatch" | "store_mismatch";
};

export function otherFounding(
  { code, what, elsewhere }: Stored,
  theirs: Founding,
  ours: Founding,
): SandboxError {
  return new SandboxError(
    code,
    `${what} was started with ${shownIn(theirs, theirs, ours)}, and this one has ${shownIn(ours, theirs, ours)}. ${canMigrate(theirs, ours) ? "Add --migrate to continue it, start" : "Start"} this one with the same, or ${elsewhere}.`,
    { stored: theirs, own: ours },
  );
}

export function migrationOf(theirs: Founding, ours: Founding): string {
  return `Migrated from ${shownIn(theirs, theirs, ours)} to ${shownIn(ours, theirs, ours)}.`;
}

function shownIn(members: Founding, theirs: Founding, ours: Founding): string {
  const shown = differencesOf(theirs, ours).map(
    (name) => `${name} ${name in members ? JSON.stringify(members[name]) : "(none)"}`,
  );
  return listed(shown, "and");
}

export function sandboxExists(what: string, elsewhere: string): SandboxError {
  return new SandboxError(
    "sandbox_exists",
    `${what} already contains a sandbox, and --import does not replace it. Start without --import, or ${elsewhere}.`,
  );
}

export function differencesOf(theirs: Founding, ours: Founding): string[] {
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return [...names].filter((name) => JSON.stringify(theirs[name]) !== JSON.stringify(ours[name]));
}

/** Whether this version reads what another one has written: of the same major version, and of no later minor one. */
export function canRead(theirs: Founding, ours: Founding): boolean {
  const [before, now] = [theirs, ours].map(({ version }) => String(version).split(".").map(Number));
  return before?.[0] === now?.[0] && Number(before?.[1]) <= Number(now?.[1]);
}

/** Whether a sandbox with another founding may be migrated: not from a later or another major version. */
export function canMigrate(theirs: Founding, ours: Founding): boolean {
  const [before, now] = [theirs, ours].map((one) => String(one.version)) as [string, string];
  const isLater = now.localeCompare(before, "en", { numeric: true }) >= 0;
  const names = differencesOf(theirs, ours);
  return isLater && canRead(theirs, ours) && names.every((name) => migrated.includes(name));
}

/**
 * Adds a scenario's new organizations and keys to a sandbox that was started with the scenario with the hash `from`; another
 * scenario, loaded at run time, stays. Throws `state_mismatch` if anything else differs, and `scenario_invalid`.
 */
export function extendStarted(own: SavedSandbox, from: string, named: NamedScenario): SavedSandbox {
  if (contentHashOf(own).slice(0, 12) !== from) return own;
  const { name, text, scenario } = named;
  // Compared as JSON, because one of them was written and read.
  const [before, after] = [own.scenario, scenario].map(
    (one): Scenario => JSON.parse(JSON.stringify(one)),
  ) as [Scenario, Scenario];
  const changed = changedPath(before, after);
  if (changed !== undefined) throw notExtended(`"${changed}" differs`);

  const organizations = { ...own.snapshot.organizations };
  const refs = new Set(Array.from(describedKeys(own.snapshot), ({ ref }) => ref));
  for (const [ref, organization] of Object.entries(after.organizations ?? {})) {
    const old = before.organizations?.[ref]?.keys;
    const added = Object.entries(organization.keys ?? {}).filter(([key]) => old?.[key] === undefined);
    const taken = added.find(([key]) => refs.has(key));
    if (taken !== undefined) throw notExtended(`the ref of the new key "${taken[0]}" was given at run time`);
    const running = organizations[ref] ?? organization;
    organizations[ref] = { ...running, keys: { ...running.keys, ...Object.fromEntries(added) } };
  }
  const snapshot = { ...own.snapshot, organizations };
  // With keys created at run time, an organization may now have too many active keys.
  checkScenario(snapshot, { mostValues: Number.POSITIVE_INFINITY });
  return { ...own, name, text, scenario, snapshot };
}

function notExtended(why: string): SandboxError {
  return new SandboxError(
    "state_mismatch",
    `Failed to migrate to this scenario: ${why}. It may only get more organizations and keys. Undo that change, or start it with another --state or --store-prefix.`,
  );
}

const maybeNew = /^organizations(?:\.[^.]+(?:\.keys(?:\.[^.]+)?)?)?$/;

/** Returns the path of a member that differs, except names of the scenario, and new organizations and keys. */
function changedPath(before: unknown, after: unknown, path = ""): string | undefined {
  if (isDeepStrictEqual(before, after) || path === "name" || path === "description") return undefined;
  if (before === undefined && maybeNew.test(path)) return undefined;
  if (!isMapping(before) || !isMapping(after)) return path;
  for (const name of Object.keys({ ...before, ...after })) {
    const changed = changedPath(before[name], after[name], path === "" ? name : `${path}.${name}`);
    if (changed !== undefined) return changed;
  }
  return undefined;
}
