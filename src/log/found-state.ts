import { parseSandboxFile } from "../node/files/sandbox-file.js";
import {
  backUp,
  brokenState,
  folderOf,
  instancePlace,
  readFolder,
  readState,
  type StatePlace,
} from "../node/files/state-place.js";
import { shellWord } from "../report/plain-text.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { SandboxError } from "../spec/errors.js";
import { sandboxExists } from "./founding.js";
import type { InstanceState } from "./instances.js";
import {
  continueState,
  isEarlier,
  parseState,
  type SavedState,
  type ScenarioIdentity,
} from "./state-file.js";

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
  const isConverted = text !== undefined && isEarlier(text);
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
  const saved = new Set(read.flatMap(({ id, isOpen }) => (isOpen ? [id] : [])));
  return { instances, broken, saved };
}

function earlierFormat({ given }: StatePlace, scenario: string): SandboxError {
  const command = ["svc-sandbox", "start", scenario, "--state", given, "--migrate"].map(shellWord).join(" ");
  const message = `The state ${JSON.stringify(given)} has the format of svc-sandbox 0.2. To continue it, run ${command}. A copy is kept for a rollback.`;
  return new SandboxError("state_mismatch", message);
}
