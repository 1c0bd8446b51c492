import {
  backUp,
  brokenState,
  checkedScenario,
  folderOf,
  instancePlace,
  parseSandboxFile,
  readFolder,
  readState,
  requireFormat,
  type StatePlace,
} from "../node/files/sandbox-file.js";
import { version } from "../node/package-files.js";
import { shellWord } from "../report/plain-text.js";
import type { SavedSandbox } from "../sandbox/start.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { SandboxError } from "../spec/errors.js";
import { parsedJson } from "../spec/schema/json.js";
import {
  canMigrate,
  canRead,
  content,
  contentHashOf,
  differencesOf,
  extendStarted,
  foundingOf,
  migrationOf,
  otherFounding,
  sandboxExists,
} from "./founding.js";
import type { InstanceState, ServerState } from "./instances.js";

export interface SavedState extends ServerState {
  /** The version that wrote it. Default: this one. */
  readonly version?: string;
  /** The scenario that the server started with; another may have been loaded later. */
  readonly startedWith: ScenarioIdentity;
}

export interface ScenarioIdentity {
  readonly name: string;
  /** The hash of its content: the same for a moved file, different for an edited file. */
  readonly sha256: string;
}

export function identityOf({ name, scenario }: NamedScenario): ScenarioIdentity {
  return { name, sha256: contentHashOf({ scenario }) };
}

/** The format of an export, and of the one file of svc-sandbox 0.2. */
const format = 3;

/**
 * Serializes a server with its instances, each scenario once, under its hash. The text contains no full keys except a scenario's
 * pinned keys (R35).
 */
export function stateText({ startedWith, own, instances }: SavedState): string {
  const scenarios: Record<string, unknown> = {};
  for (const one of [own, ...instances.map(({ runtime }) => runtime)]) {
    scenarios[idOf(one)] ??= { scenario: one.scenario, text: one.text };
  }
  const header = { svc_sandbox_state: format, version, started_with: startedWith };
  const inside = instances.map((one) => ({ ...one, runtime: written(one.runtime) }));
  return `${JSON.stringify({ ...header, scenarios, own: written(own), instances: inside })}\n`;
}

const idOf = (state: Pick<SavedSandbox, "scenario">) => contentHashOf(state).slice(0, 16);

function written({ text: _, ...state }: SavedSandbox): WrittenRuntime {
  return { ...state, scenario: idOf(state) };
}

type WrittenRuntime = Omit<SavedSandbox, "scenario" | "text"> & { readonly scenario: string };

interface WrittenState extends Omit<Required<SavedState>, "startedWith" | "own" | "instances"> {
  readonly started_with: ScenarioIdentity;
  readonly scenarios: Readonly<Record<string, Pick<SavedSandbox, "scenario" | "text">>>;
  readonly own: WrittenRuntime;
  readonly instances: readonly (Omit<InstanceState, "runtime"> & { readonly runtime: WrittenRuntime })[];
}

/**
 * Parses an export or a state of svc-sandbox 0.2; `given` is its name for messages. Throws `state_unreadable`. Restoring the
 * state detects remaining contradictions.
 */
export function parseState(text: string, given: string): SavedState {
  const found = requireFormat(parsedJson(text), format, given) as unknown as WrittenState;
  try {
    for (const { scenario } of Object.values(found.scenarios)) checkedScenario(scenario);
    const runtimeOf = (runtime: WrittenRuntime): SavedSandbox => {
      const shared = found.scenarios[runtime.scenario];
      const snapshot = checkedScenario(runtime.snapshot);
      if (shared === undefined || snapshot.clock?.now === undefined) throw brokenState(given);
      return { ...runtime, ...shared, snapshot };
    };
    return {
      version: found.version,
      startedWith: { name: found.started_with.name, sha256: found.started_with.sha256 },
      own: runtimeOf(found.own),
      instances: found.instances.map((one) => ({ ...one, runtime: runtimeOf(one.runtime) })),
    };
  } catch {
    throw brokenState(given);
  }
}

/**
 * Continues a state in this version with the current scenario, which may have additional organizations and keys if that
 * `isAllowed`. Returns a sentence about the change as well. Throws `state_mismatch`, also for a state of another major version or
 * a later minor one.
 */
export function continueState(
  saved: SavedState,
  served: NamedScenario,
  { given, isAllowed }: { readonly given: string; readonly isAllowed: boolean },
): { readonly state: SavedState; readonly change: string | undefined } {
  const { startedWith, own } = saved;
  const ours = foundingOf(served);
  const [name, hash] = [startedWith.name, startedWith.sha256.slice(0, 12)];
  const theirs = { version: saved.version ?? version, scenario: name, [content]: hash };
  const stored = {
    code: "state_mismatch",
    what: `The state ${JSON.stringify(given)}`,
    elsewhere: "name another file, or remove this one to start again",
  } as const;
  const isSame = hash === ours[content];
  if (!(isSame ? canRead(theirs, ours) : isAllowed && canMigrate(theirs, ours))) {
    throw otherFounding(stored, theirs, ours);
  }
  const extended = isSame ? own : extendStarted(own, hash, served);
  // A moved scenario file gets its new name; a scenario that was loaded later keeps its own.
  const moved = own.name === name ? { name: served.name } : {};
  return {
    state: { ...saved, startedWith: identityOf(served), own: { ...extended, ...moved } },
    change: differencesOf(theirs, ours).length === 0 ? undefined : migrationOf(theirs, ours),
  };
}

interface Options {
  readonly own: () => NamedScenario;
  readonly imported?: { readonly text: string; readonly given: string } | undefined;
  readonly migrate?: boolean | undefined;
}

/** What the file of an instance has besides the sandbox. */
export type InstanceInFile = Omit<InstanceState, "id" | "idle" | "runtime">;

/**
 * Reads what a server continues: the state of its own sandbox, if there is one, and its instances, or why they are broken. Makes a
 * copy before a migration. Throws `state_unreadable` and `state_mismatch`, but not for an instance.
 */
export function findState(place: StatePlace, options: Options) {
  const text = readState(place);
  const folder = readFolder(place);
  if ((text !== undefined || folder.length > 0) && options.imported !== undefined) {
    throw sandboxExists(`The state ${JSON.stringify(place.given)}`, "name another file with --state");
  }
  const { state, notes, isConverted } = continuedIn(place, text, options);
  // Next to a file with all instances are those of a migration that was cut off.
  const { instances, broken, saved } = instancesIn(place, isConverted ? [] : folder, state);
  if (text === undefined && folder.length > 0) notes.push(missing(place.given));
  return {
    ...{ isThere: text !== undefined, own: state?.own, broken, saved, note: notes.join(" ") },
    instances: [...(state?.instances ?? []), ...instances],
  };
}

function continuedIn(
  place: StatePlace,
  text: string | undefined,
  { own, imported, migrate = false }: Options,
) {
  const isConverted = text?.startsWith(`{"svc_sandbox_state":${format},`) === true;
  if (isConverted && !migrate) throw earlierFormat(place, own().name);
  const from = imported ?? (text === undefined ? undefined : { text, given: place.given });
  if (from === undefined) return { state: undefined, notes: [] as string[], isConverted };
  const parsed = (isConverted || imported ? parseState : ownIn)(from.text, from.given);
  const { state, change } = continueState(parsed, own(), { given: from.given, isAllowed: migrate });
  const notes = migrate && change !== undefined ? [change] : [];
  if (isConverted) notes.push("Each instance has its own file now.");
  if (text !== undefined && notes.length > 0) {
    notes.push(`The previous state is in "${backUp(place, text, parsed.version)}".`);
  }
  return { state, notes, isConverted };
}

function missing(given: string): string {
  return `The state ${JSON.stringify(given)} is missing, so the server's own sandbox starts again. The instances in ${JSON.stringify(folderOf(given))} continue. Remove this folder to start without them.`;
}

function ownIn(text: string, given: string): SavedState {
  const found = parseSandboxFile<{ readonly started_with: ScenarioIdentity }>(text, given);
  if (found.started_with === undefined) throw brokenState(given);
  return { version: found.version, startedWith: found.started_with, own: found.own, instances: [] };
}

function instancesIn(place: StatePlace, ids: readonly string[], state: SavedState | undefined) {
  const broken = new Map<string, SandboxError>();
  const read = ids.flatMap((id) => {
    const { file, given } = instancePlace(place, id);
    try {
      const text = readState({ file, given }) ?? "";
      const found = parseSandboxFile<{ readonly instance: InstanceInFile }>(text, given, true);
      if (found.instance === undefined) throw brokenState(given, true);
      return { ...found, id };
    } catch (error) {
      broken.set(id, error as SandboxError);
      return [];
    }
  });
  const owned = [...read, ...(state === undefined ? [] : [state])];
  const alive = owned.reduce((latest, { own }) => Math.max(latest, (own.since ?? own).at), 0);
  // The stop does not count as idle time.
  const instances = read.map(({ id, instance, usedAt, own }): InstanceState => {
    return { ...instance, id, idle: Math.max(0, alive - usedAt), runtime: own };
  });
  return { instances, broken, saved: new Set(ids) };
}

function earlierFormat({ given }: StatePlace, scenario: string): SandboxError {
  const command = ["svc-sandbox", "start", scenario, "--state", given, "--migrate"].map(shellWord).join(" ");
  const message = `The state ${JSON.stringify(given)} has the format of svc-sandbox 0.2. To continue it, run ${command}. A copy is kept for a rollback.`;
  return new SandboxError("state_mismatch", message);
}
