import { constants } from "node:fs";
import { mkdir, open, stat } from "node:fs/promises";
import { dirname } from "node:path";

// Not by way of a second file: what is named may be a pipe. One from which nobody reads is not waited for.
const { O_WRONLY, O_CREAT, O_TRUNC, O_NONBLOCK = 0 } = constants;

/** Writes a file, making its folder. Throws what the file system says; `ENXIO` of a pipe from which nobody reads. */
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

// Two may make it at the same time, and the root of a drive is nobody's to make.
async function refuseUnlessFolder(path: string, error: unknown): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isDirectory()) throw error;
}
