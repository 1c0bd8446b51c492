import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

/** The end of a draft's name. A draft that a killed process has left may contain keys. */
const draftSuffix = ".svc-sandbox-draft";

/** The letters of a text that are written together. */
const writtenAtOnce = 256 * 1024;

/** The codes of a machine that has reached a limit. */
const machineCodes = ["ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "ENOMEM", "EIO", "EROFS"];

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

/** Why a call of the file system failed, in Node's words: its code, the call and the path. */
export function fileFailure(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  // Some have only a code.
  return message || (code ?? String(error));
}

/** The most bytes of a file that is read whole. */
const mostBytes = 16 * 1024 * 1024;

/** Reads a file of the user. Throws for a huge one, and for a pipe or a device, whose read may never end. */
export function readSmallFile(file: string): Buffer {
  const stats = statSync(file);
  // The read of a folder fails by itself.
  if (!stats.isFile() && !stats.isDirectory()) throw new Error("it is not a regular file");
  if (stats.size > mostBytes) throw new Error(`it is larger than ${mostBytes / 2 ** 20} MiB`);
  return readFileSync(file);
}

/** Whether the machine has reached a limit, such as a full disk; not a defect of this program. */
export function isMachineLimit(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && machineCodes.includes((error as NodeJS.ErrnoException).code ?? "");
}
