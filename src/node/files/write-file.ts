import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  promises,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

// Not through a draft: the name may be that of a pipe. A pipe without a reader is not waited for.
const { O_WRONLY, O_CREAT, O_TRUNC, O_APPEND, O_NONBLOCK = 0 } = constants;

/** The ending of a draft behind the process that writes it. */
const draftEnding = ".svc-sandbox-draft";

/**
 * Writes a file in one step: a reader sees the old one or the new one, never a half. A symbolic link stays one, and so
 * does what is no regular file (a device, a pipe), which is written to.
 *
 * It outlives a process that is killed at any time; a machine that loses power may lose the latest write.
 *
 * Throws the error of the file system (`ENOENT`, `EACCES`, …) or of `check`, which runs just before the step, and leaves nothing behind then.
 */
export function writeFileAtomically(file: string, text: string, mode: number, check = () => {}): void {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) {
    writeInto(file, text);
    return;
  }
  const target = targetOf(file);
  const draft = `${target}.${process.pid}${draftEnding}`;
  try {
    rmSync(draft, { force: true });
    // Keeps to a new file: whatever stands there is not ours.
    writeFileSync(draft, text, { mode, flag: "wx" });
    check();
    renameSync(draft, target);
  } catch (error) {
    try {
      rmSync(draft, { force: true });
    } catch {
      // Where it cannot be removed it could not be made either.
    }
    throw error;
  }
}

/** Removes the drafts of a file that processes have left behind which were killed: there may be keys in them. */
export function removeOldDrafts(file: string): void {
  try {
    const target = targetOf(file);
    const start = `${basename(target)}.`;
    for (const name of readdirSync(dirname(target))) {
      if (!name.startsWith(start) || !name.endsWith(draftEnding)) continue;
      const pid = Number(name.slice(start.length, -draftEnding.length));
      if (pid > 0 && !isRunning(pid)) rmSync(join(dirname(target), name), { force: true });
    }
  } catch {
    // Where nothing can be listed or removed, to write says so.
  }
}

// Our own id was that of an earlier process: in a container it is always the same.
function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Returns where a file is, behind symbolic links; it need not be there yet. */
export function targetOf(file: string): string {
  if (statSync(file, { throwIfNoEntry: false }) !== undefined) return realpathSync(file);
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new Error("it is a symbolic link to a file that does not exist");
  }
  const folder = dirname(file);
  return existsSync(folder) ? join(realpathSync(folder), basename(file)) : file;
}

function writeInto(file: string, text: string): void {
  const descriptor = openSync(file, O_WRONLY | O_NONBLOCK);
  try {
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Writes a report, making its folder, or adds it to the file. Throws the error of the file system; `ENXIO` for a pipe
 * without a reader.
 */
export async function writeReportFile(path: string, text: string, isAppended = false): Promise<void> {
  makeFolder(dirname(path));
  // What the command has written to its standard output, whatever file that is, stays.
  const isStream = /^\/(?:dev|proc)\//.test(path);
  const how = isStream ? O_APPEND : O_CREAT | (isAppended ? O_APPEND : O_TRUNC);
  const file = await promises.open(path, O_WRONLY | O_NONBLOCK | how, 0o666);
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}

/** Makes a folder and those around it, unless they are there. Throws the error of the file system. */
export function makeFolder(path: string): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  // By hand: under /proc and the like Node's own tries for ever.
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path);
  } catch (error) {
    // Two processes may make it at the same time.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Describes why a file could not be read or written. */
export function fileFailure(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return reasons[code ?? ""] ?? code ?? message;
}

const machineCodes = ["ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "ENOMEM", "EIO", "EROFS"];

/** Whether the machine has reached a limit, such as a full disk, which is not a defect of ours. */
export function isOfMachine(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && machineCodes.includes((error as NodeJS.ErrnoException).code ?? "");
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "its folder does not exist",
  ENOTDIR: "its folder is a file",
  EEXIST: "its folder is a file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the disk is read-only",
  EISDIR: "it is a directory",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
  ELOOP: "its symbolic links lead in a circle",
  ENXIO: "it is a socket, or a pipe that has no reader",
  EAGAIN: "it is a pipe whose reader is too slow",
  // A container that mounts the file itself: nothing can be renamed over it.
  EBUSY: "it is a mount itself (mount its folder instead)",
};
