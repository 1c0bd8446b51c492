import { cpSync, promises, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { draftEnding, fileFailure, writeFileAtomically } from "../../node/files/write-file.js";
import { SandboxError } from "../../spec/errors.js";
import { type SignedLine, unreadableState } from "../state-format.js";

/** A file of a saved state: its absolute path, and the given path for messages. */
export interface StatePlace {
  readonly file: string;
  readonly given: string;
}

/** The bytes of lines before the file is written again, or four times those of its first line. */
const mostLines = 256_000;
const { O_WRONLY, O_APPEND } = promises.constants;

export type SandboxFile = ReturnType<typeof openSandboxFile>;

/**
 * Opens the file of a sandbox, which only this process writes and only its owner can read. `check` throws if this server may not
 * write. Its functions throw the errors of the file system, and leave the file unchanged then.
 */
export function openSandboxFile({ file }: StatePlace, check: () => void = () => {}) {
  /** What the file system showed after the last write, and the bytes of the first line that this process has written. */
  let known = shownOf(file);
  let first: number | undefined;
  let sum = "";
  let isWriting = false;
  const isTaken = () => {
    const found = shownOf(file);
    return found !== undefined && found.text !== known?.text;
  };
  const requireOwn = () => {
    check();
    if (isTaken()) throw takenOver;
  };
  const writing = async (write: () => Promise<unknown>) => {
    requireOwn();
    isWriting = true;
    try {
      await write();
    } finally {
      isWriting = false;
    }
  };
  const sizes = () => ({ all: known?.size ?? 0, rest: (known?.size ?? 0) - (first ?? 0) });
  return {
    /** Whether another program has written the file since the last write. */
    isForeign: () => !isWriting && isTaken(),
    /** The bytes of the file, and of the lines after the first one. */
    sizes,
    /** Whether a line may be appended; otherwise the file must be replaced. The last line of an earlier process may be cut. */
    canAppend: () =>
      first !== undefined && sizes().rest <= Math.max(4 * first, mostLines) && shownOf(file) !== undefined,
    replace: (line: SignedLine) =>
      writing(async () => {
        await writeFileAtomically(file, line.text, 0o600, requireOwn);
        known = shownOf(file);
        [first, sum] = [known?.size, line.sum];
      }),
    append: (make: (before: string) => SignedLine) =>
      writing(async () => {
        const line = make(sum);
        const { all } = sizes();
        const handle = await promises.open(file, O_WRONLY | O_APPEND);
        try {
          await handle.appendFile(line.text);
          sum = line.sum;
        } catch (error) {
          // A full disk may have taken a part.
          first = undefined;
          await handle.truncate(all);
          throw error;
        } finally {
          await handle.close();
          known = shownOf(file);
        }
      }),
    remove: () => writing(() => promises.rm(file, { force: true })),
  };
}

function shownOf(file: string) {
  const { ino, size, mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return ino === undefined || size === undefined ? undefined : { size, text: `${ino} ${size} ${mtimeMs}` };
}

/** The lock does not protect from other containers that mount the volume. */
export const takenOver = new Error("another program has written it, such as a server in another container");

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

/** Copies the state that another version has written, with its instances, and returns the copy's name: a state as well. */
export function copyState({ file, given }: StatePlace, text: string, version: string): string {
  const copy = `.backup-${version}`;
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

/** Returns `state_unwritable` for an error of the file system. */
export function unwritableState(given: string, error: unknown): SandboxError {
  const whatToDo = isFullDisk(error)
    ? `Free disk space, for example by removing copies ${JSON.stringify(`${given}.backup-…`)} that you no longer need.`
    : "Check its folder and permissions.";
  const message = `Failed to write the state to ${JSON.stringify(given)}: ${fileFailure(error)}. The file keeps its last saved state. ${whatToDo}`;
  return Object.assign(new SandboxError("state_unwritable", message), { cause: error });
}

export function isFullDisk(error: unknown): boolean {
  return /^(?:ENOSPC|EDQUOT)$/.test((error as NodeJS.ErrnoException | undefined)?.code ?? "");
}
