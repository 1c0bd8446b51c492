import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { SandboxError } from "../../spec/errors.js";
import { draftEnding, fileFailure, writeFileAtomically } from "./write-file.js";

/** A file of a saved state: its absolute path, and the given path for messages. */
export interface StatePlace {
  readonly file: string;
  readonly given: string;
}

/** Returns the folder with the files of a server's instances. */
export const folderOf = (file: string) => `${file}.instances`;

export function instancePlace({ file, given }: StatePlace, id: string): StatePlace {
  return { file: join(folderOf(file), `${id}.json`), given: `${folderOf(given)}/${id}.json` };
}

/** Returns the ids of the instances that have a file, and removes what a killed process has left. */
export function readFolder({ file, given }: StatePlace): string[] {
  const folder = folderOf(file);
  return orUnreadable(folderOf(given), () => {
    if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
    const names = readdirSync(folder);
    for (const name of names.filter((one) => one.endsWith(draftEnding))) {
      try {
        rmSync(join(folder, name));
      } catch {
        // The disk may be read-only.
      }
    }
    return names.flatMap((name) => /^(\w+)\.json$/.exec(name)?.[1] ?? []);
  });
}

export function readState({ file, given }: StatePlace): string | undefined {
  return orUnreadable(given, () => {
    const found = statSync(file, { throwIfNoEntry: false });
    // Reading a pipe would wait for a writer.
    if (found?.isFile() === false) throw new Error("it is not a regular file");
    return found && readFileSync(file, "utf8");
  });
}

/** Backs up the state before a migration in a separate file, and returns the file's name. */
export function backUp({ file, given }: StatePlace, text: string, version = ""): string {
  const copy = `.backup-${version}`;
  orUnwritable(given + copy, () => writeFileAtomically(file + copy, text, 0o600));
  return given + copy;
}

export function brokenState(given: string, isInstance = false): SandboxError {
  return unreadableState(given, "one of its members is missing or damaged", isInstance);
}

export function unreadableState(given: string, why: string, isInstance = false): SandboxError {
  const whatToDo = isInstance
    ? "Whoever runs this server must put a copy of the file back and restart it, or remove the instance"
    : "Name another file, or remove this one to start again";
  const message = `Failed to continue from the state ${JSON.stringify(given)}: ${why}. ${whatToDo}.`;
  return new SandboxError("state_unreadable", message);
}

/** Throws `state_unreadable` for an error of the file system. */
export function orUnreadable<Result>(given: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw unreadableState(given, fileFailure(error));
  }
}

/** Throws `state_unwritable` for an error of the file system. */
export function orUnwritable(given: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    const whatToDo = isFullDisk(error)
      ? `Free disk space, for example by removing copies ${JSON.stringify(`${given}.backup-…`)} that you no longer need.`
      : "Check its folder and permissions.";
    const message = `Failed to write the state to ${JSON.stringify(given)}: ${fileFailure(error)}. The file keeps its last saved state. ${whatToDo}`;
    throw Object.assign(new SandboxError("state_unwritable", message), { cause: error });
  }
}

export function isFullDisk(error: unknown): boolean {
  return /^(?:ENOSPC|EDQUOT)$/.test((error as NodeJS.ErrnoException | undefined)?.code ?? "");
}
