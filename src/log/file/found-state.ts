import { version } from "../../node/package-files.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import { sandboxExists } from "../founding.js";
import type { InstanceState } from "../instances.js";
import { brokenState, continueState, type KnownScenarios, parseState } from "../state-format.js";
import {
  copyState,
  folderOf,
  instancePlace,
  readFolder,
  readState,
  type StatePlace,
} from "./sandbox-file.js";

interface Options {
  readonly own: () => NamedScenario;
  readonly imported?: { readonly text: string; readonly given: string } | undefined;
}

/**
 * Reads what a server continues: its own sandbox, if there is one, and the ids of the instances that have a file. Copies a state of
 * another version first. Throws `state_unreadable` and `state_mismatch`.
 */
export function findState(place: StatePlace, { own, imported }: Options) {
  const text = readState(place);
  const ids = readFolder(place);
  if ((text !== undefined || ids.length > 0) && imported !== undefined) {
    throw sandboxExists(`The state ${JSON.stringify(place.given)}`, "name another file with --state");
  }
  const from = imported ?? (text === undefined ? undefined : { text, given: place.given });
  const state = from && continueState(parseState(from.text, from.given), own(), from.given);
  const notes: string[] = [];
  if (text === undefined && ids.length > 0) notes.push(missing(place.given));
  const by = String(state?.version);
  if (text !== undefined && by !== version) {
    notes.push(
      `Version ${version} continues a state of version ${by}. A copy of it is in "${copyState(place, text, by)}".`,
    );
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
