import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";

/**
 * Writes a file in one step: a reader sees the old one or the new one, never a half.
 *
 * Throws what the file system says (`ENOENT`, `EACCES`, …) and leaves nothing behind then.
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

/** What a failure to read or to write a file means, in words. */
export function writeFailure(error: unknown): string {
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
  ENXIO: "it is a pipe from which nobody reads",
  EAGAIN: "it is a pipe from which nobody reads fast enough",
  // A container that mounts the file itself: nothing can be renamed over it.
  EBUSY: "it is a mount of its own (mount its folder instead)",
};
