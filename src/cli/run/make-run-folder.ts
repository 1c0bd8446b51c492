// The folder of a run has keys: only its owner reads it, and each end of its process but a kill removes it. A folder that a
// killed run has left is removed by a later run after a day, if no process has its lock.

import { existsSync, promises } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { lock } from "../../node/files/lock.js";
import { nodePlatform } from "../../node/platform.js";
import { day } from "../../rules/time.js";
import { quoteFile } from "../../schema/words.js";
import { unwritable } from "../exit-codes.js";

const folderPrefix = "svc-sandbox-run-";

/** What to do if the folder cannot be written. */
export const folderHint = "Name another folder in TMPDIR.";

/** A folder of one run, and how to unlock it. */
export interface LockedFolder {
  readonly path: string;
  readonly unlock: () => void;
}

/** Makes a folder for a run, which only its owner can read, and which no later run removes. Removes those that killed runs have left. */
export async function makeRunFolder(): Promise<LockedFolder> {
  const runs = await makeFolderOfRuns();
  await removeLeftFolders(runs);
  for (;;) {
    const path = await makeFolderIn(runs);
    const unlock = await lock(path);
    // Before the lock, a run with another clock may take it for a folder that a killed run has left. Then another one is made.
    if (unlock !== undefined && existsSync(path)) return { path, unlock };
    unlock?.();
  }
}

/** The folder of this user's runs: the one of all temporary files may have thousands of others, which each run would list. */
async function makeFolderOfRuns(): Promise<string> {
  const user = process.getuid?.();
  // The command may change its working folder, and TMPDIR may be relative.
  const temporary = resolve(tmpdir());
  const folder = join(temporary, `svc-sandbox-${user ?? "runs"}`);
  await promises.mkdir(folder, { mode: 0o700 }).catch(() => {});
  const stats = await promises.lstat(folder).catch(() => undefined);
  if (!stats?.isDirectory()) return temporary;
  // Another user may have made it first. Windows has no numbers of users.
  const isOnlyOurs = user === undefined || (stats.uid === user && (stats.mode & 0o077) === 0);
  return isOnlyOurs ? folder : temporary;
}

async function makeFolderIn(runs: string): Promise<string> {
  try {
    return await promises.mkdtemp(join(runs, folderPrefix));
  } catch (cause) {
    throw unwritable(cause, `a folder for the command into ${quoteFile(runs)}`, folderHint);
  }
}

/** Removes the folders that killed runs have left. */
async function removeLeftFolders(runs: string): Promise<void> {
  const names = await promises.readdir(runs).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(folderPrefix)) continue;
    // A folder that cannot be removed is in nobody's way.
    await removeIfLeft(join(runs, name)).catch(() => {});
  }
}

/** Removes a folder if its run was killed: it is this user's, older than a day, and locked by no process. */
async function removeIfLeft(path: string): Promise<void> {
  const stats = await promises.lstat(path);
  const user = process.getuid?.();
  const isOurs = user === undefined || stats.uid === user;
  if (!stats.isDirectory() || !isOurs) return;
  if (stats.mtimeMs > nodePlatform.time() - day) return;

  const unlock = await lock(path);
  if (unlock !== undefined) await promises.rm(path, { recursive: true }).finally(unlock);
}
