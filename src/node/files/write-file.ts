import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Writes a file in one step: a reader sees the old one or the new one, never a half.
 *
 * Throws the error of the file system (`ENOENT`, `EACCES`, …) and leaves nothing behind then.
 */
export async function writeFileAtomically(file: string, text: string, mode: number): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const handle = await open(draft, "wx", mode);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}

// Not through a draft: the name may be that of a pipe. A pipe without a reader is not waited for.
const { O_WRONLY, O_CREAT, O_TRUNC, O_NONBLOCK = 0 } = constants;

/** Writes a report, making its folder. Throws the error of the file system; `ENXIO` for a pipe without a reader. */
export async function writeReportFile(path: string, text: string): Promise<void> {
  await makeFolder(dirname(path));
  const file = await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK, 0o666);
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}

// By hand: under /proc and the like Node's own tries for ever.
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const parent = dirname(path);
    const lacksParent = (error as NodeJS.ErrnoException).code === "ENOENT" && parent !== path;
    if (!lacksParent) return refuseUnlessFolder(path, error);
    await makeFolder(parent);
    await mkdir(path).catch((again) => refuseUnlessFolder(path, again));
  }
}

// Two processes may make it at the same time, and the root of a drive cannot be made.
async function refuseUnlessFolder(path: string, error: unknown): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isDirectory()) throw error;
}

/** Describes why a file could not be read or written. */
export function fileFailure(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return reasons[code ?? ""] ?? code ?? message;
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "its folder does not exist",
  ENOTDIR: "its folder is a file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the disk is read-only",
  EISDIR: "it is a directory",
  ENOSPC: "the disk is full",
  ENXIO: "it is a pipe that has no reader",
  EAGAIN: "it is a pipe whose reader is too slow",
  // A container that mounts the file itself: nothing can be renamed over it.
  EBUSY: "it is a mount of its own (mount its folder instead)",
};
