import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { SandboxError } from "../../rules/errors.js";

/** The end of a draft's name. A draft that a killed process has left may contain keys. */
const draftSuffix = ".svc-sandbox-draft";

/** The letters of a text that are written together. */
const writtenAtOnce = 256 * 1024;

/** The codes of a machine that has reached a limit. */
const machineCodes = ["ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "ENOMEM", "EIO", "EROFS"];

/** What the codes of the file system mean. */
const fileErrorWords: Readonly<Record<string, string>> = {
  ENOENT: "its folder does not exist",
  ENOTDIR: "its folder is a file",
  EEXIST: "its folder is a file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the disk is read-only",
  EISDIR: "it is a directory",
  ERR_FS_EISDIR: "it is a directory",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
  ELOOP: "its symbolic links lead in a circle",
  EIO: "the disk or the device reports an error",
  ENAMETOOLONG: "its name is too long",
  ENXIO: "it is a socket, or a pipe that has no reader",
  EAGAIN: "it is a pipe whose reader is too slow",
  // A container mounts the file itself, so it cannot be replaced.
  EBUSY: "it is a mount itself (mount its folder instead)",
};

/**
 * Replaces a whole file through a draft in its folder. Its content is made while it is written. `confirm` runs before the file is
 * replaced, and may throw; a failure leaves no draft behind.
 */
export function replaceFile(
  target: string,
  parts: Iterable<string | Uint8Array>,
  mode: number,
  confirm: () => void = () => {},
): void {
  const draft = `${target}${draftSuffix}`;
  rmSync(draft, { force: true });
  try {
    writeDraft(draft, parts, mode);
    confirm();
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Writes a file that does not exist. */
function writeDraft(draft: string, parts: Iterable<string | Uint8Array>, mode: number): void {
  // `wx` rejects an existing file, which is not ours.
  const descriptor = openSync(draft, "wx", mode);
  try {
    // Each write costs as much as thousands of letters.
    let text = "";
    for (const part of parts) {
      const isText = typeof part === "string";
      if (isText) {
        text += part;
        if (text.length < writtenAtOnce) continue;
      }
      // The text that waits comes before the bytes.
      if (text !== "") writeFileSync(descriptor, text);
      text = "";
      if (!isText) writeFileSync(descriptor, part);
    }
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

/** The file that a name means, also through links; the file need not exist. */
export function resolveLinks(file: string): string {
  const exists = statSync(file, { throwIfNoEntry: false }) !== undefined;
  if (exists) return realpathSync(file);

  const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink();
  if (isLink) throw new Error("it is a symbolic link to a file that does not exist");

  const folder = dirname(file);
  if (!existsSync(folder)) return file;
  return join(realpathSync(folder), basename(file));
}

/** Makes a folder with those above it. One level at a time: Node's own recursion never ends where a folder rejects it as missing, as in /proc. */
export function makeFolder(folder: string, mode = 0o777): void {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have made it in the meantime.
    const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
    if (!isFolder) throw error;
  }
}

/** Describes why a call of the file system failed. */
export function fileFailure(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  // Its code is one of ours, and says nothing of a file.
  if (error instanceof SandboxError) return message;
  return fileErrorWords[code ?? ""] ?? code ?? message;
}

/** The most bytes of a file that is read whole. */
const mostBytes = 16 * 1024 * 1024;

/** Reads a file of the user. Throws for one that is huge, and for a pipe or a device, whose read may never end. */
export function readSmallFile(file: string): Buffer {
  const stats = statSync(file);
  if (!stats.isFile() && !stats.isDirectory()) throw new Error("it is not a regular file");
  if (stats.size > mostBytes) throw new Error(`it is larger than ${mostBytes / 2 ** 20} MiB`);
  return readFileSync(file);
}

/** Throws for a pipe or a device, whose read may never end: it would wait for a writer, and no signal could end the process. A folder passes, because its read fails. */
export function rejectEndlessFile(stats: Stats): void {
  if (stats.isFIFO()) throw new Error("it is a pipe");
  if (!stats.isFile() && !stats.isDirectory()) throw new Error("it is not a regular file");
}

/** Why a file of the user cannot be read: one that is missing is said to be missing, and not its folder. */
export function readFailure(error: unknown): string {
  return (error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : fileFailure(error);
}

/** Whether the machine has reached a limit, such as a full disk; not a defect of this program. */
export function isMachineLimit(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && machineCodes.includes((error as NodeJS.ErrnoException).code ?? "");
}
