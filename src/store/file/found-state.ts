import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { draftSuffix, fileFailure } from "../../node/files/write-file.js";
import { version } from "../../node/package-files.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import type { InstanceState } from "../instances.js";
import { sandboxExists } from "../origin.js";
import {
  brokenState,
  continueState,
  type KnownScenarios,
  parseState,
  unreadableState,
} from "../state-format.js";
import { type StatePlace, unwritableState } from "./kept-sandbox.js";

export const folderOf = (file: string) => `${file}.instances`;

export function instancePlace({ file, given }: StatePlace, id: string): StatePlace {
  return { file: join(folderOf(file), `${id}.json`), given: `${folderOf(given)}/${id}.json` };
}

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
  // A file has instances only if somebody put an export there.
  const inside = state?.instances.filter(({ id }) => !ids.includes(id)) ?? [];
  const found = { isThere: text !== undefined, own: state?.own, inside, ids };
  if (text === undefined) return { ...found, note: ids.length === 0 ? "" : missing(place.given) };
  const by = String(state?.version);
  if (by === version) return { ...found, note: "" };
  const copy = copyState(place, text, by);
  return {
    ...found,
    note: `Version ${version} continues a state of version ${by}. A copy of it is in "${copy}".`,
  };
}

/** Removes what a killed server has not finished to write. A disk that does not allow it changes nothing. */
export function removeDrafts({ file }: StatePlace): void {
  const folder = folderOf(file);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const inFolder = names.filter((name) => name.endsWith(draftSuffix)).map((name) => join(folder, name));
  for (const draft of [file + draftSuffix, ...inFolder]) {
    try {
      rmSync(draft, { force: true });
    } catch {
      // The next write of this file tries it again.
    }
  }
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

/** Returns the ids of the instances that have a file. */
function readFolder({ file, given }: StatePlace): string[] {
  const folder = folderOf(file);
  return orUnreadable(folderOf(given), () => {
    if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
    return readdirSync(folder).flatMap((name) => /^(\w+)\.json$/.exec(name)?.[1] ?? []);
  });
}

function readState({ file, given }: StatePlace): string | undefined {
  return orUnreadable(given, () => {
    const found = statSync(file, { throwIfNoEntry: false });
    // Reading a pipe would wait for a writer.
    if (found?.isFile() === false) throw new Error("it is not a regular file");
    return found && readFileSync(file, "utf8");
  });
}

/** Copies the state that another version has written, with its instances, and returns the copy's name: a state as well. */
function copyState({ file, given }: StatePlace, text: string, by: string): string {
  const copy = `.backup-${by}`;
  try {
    if (statSync(folderOf(file), { throwIfNoEntry: false }) !== undefined)
      cpSync(folderOf(file), folderOf(file + copy), { recursive: true, preserveTimestamps: true });
    writeFileSync(file + copy, text, { mode: 0o600 });
  } catch (error) {
    throw unwritableState(given + copy, error);
  }
  return given + copy;
}

/** Throws `state_unreadable` for an error of the file system. */
export function orUnreadable<Result>(given: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw unreadableState(given, fileFailure(error));
  }
}
