import type { SavedSandbox } from "../sandbox/start.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { changeSince, type Founding, foundingOf, requireSame, sandboxExists } from "./founding.js";
import type { InstanceState } from "./instances.js";
import {
  copyState,
  folderOf,
  instancePlace,
  readFolder,
  readState,
  type StatePlace,
} from "./sandbox-file.js";
import {
  brokenState,
  identityOf,
  type KnownScenarios,
  parseState,
  type ReadState,
  type SavedState,
} from "./state-format.js";

interface Options {
  readonly own: () => NamedScenario;
  readonly imported?: { readonly text: string; readonly given: string } | undefined;
  readonly settings: Founding;
}

/** When it was saved, on the wall clock (epoch milliseconds). */
export const savedAt = ({ since, at }: SavedSandbox) => (since ?? { at }).at;

/** Returns a state as of the current scenario's name. Throws `state_mismatch` if another scenario started it. */
export function continueState(saved: ReadState, served: NamedScenario, given: string): SavedState {
  const { startedWith, own } = saved;
  if (startedWith === undefined || own === undefined) throw brokenState(given);
  const ours = identityOf(served);
  const stored = {
    code: "state_mismatch",
    what: `The state ${JSON.stringify(given)}`,
    elsewhere: "name another file, or remove this one to start again",
  } as const;
  requireSame(stored, foundingOf(startedWith), foundingOf(ours));
  // A moved scenario file gets its new name; a scenario that was loaded later keeps its own.
  const moved = own.name === startedWith.name ? { name: served.name } : {};
  return { ...saved, startedWith: ours, own: { ...own, ...moved } };
}

/**
 * Reads what a server continues: its own sandbox, if there is one, and the ids of the instances that have a file. Copies a state of
 * another version first. Throws `state_unreadable` and `state_mismatch`.
 */
export function findState(place: StatePlace, { own, imported, settings }: Options) {
  const text = readState(place);
  const ids = readFolder(place);
  if ((text !== undefined || ids.length > 0) && imported !== undefined) {
    throw sandboxExists(`The state ${JSON.stringify(place.given)}`, "name another file with --state");
  }
  const from = imported ?? (text === undefined ? undefined : { text, given: place.given });
  const state = from && continueState(parseState(from.text, from.given), own(), from.given);
  const notes: string[] = [];
  if (text === undefined && ids.length > 0) notes.push(missing(place.given));
  const before = state && { version: state.version, ...state.settings };
  const change = before && changeSince(before, settings);
  if (change !== undefined) notes.push(change);
  if (text !== undefined && before?.version !== settings.version) {
    notes.push(`A copy of the state before is in "${copyState(place, text, String(before?.version))}".`);
  }
  // A file has instances only if somebody put an export there.
  const inside = state?.instances.filter(({ id }) => !ids.includes(id)) ?? [];
  return { isThere: text !== undefined, own: state?.own, inside, ids, note: notes.join(" ") };
}

function missing(given: string): string {
  return `The state ${JSON.stringify(given)} is missing, so the server's own sandbox starts again. The instances in ${JSON.stringify(folderOf(given))} continue. Remove this folder to start without them.`;
}

/** Reads the file of an instance, or of an export that somebody put in its place. Throws `state_unreadable`. */
export function readInstance(place: StatePlace, id: string, known: KnownScenarios): InstanceState {
  const { file, given } = instancePlace(place, id);
  const { instances } = parseState(readState({ file, given }) ?? "", given, { isInstance: true, known });
  const found = instances.find((one) => one.id === id);
  if (found === undefined) throw brokenState(given, true);
  return found;
}
