import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { readFailure, rejectEndlessFile } from "../node/files/write-file.js";
import { SandboxError } from "../rules/errors.js";
import { quoteFile } from "../schema/words.js";
import { unwritable, usageError } from "./exit-codes.js";
import { writeWholeFile } from "./output-files.js";

/** The file of this name. Throws if there is one that must not be overwritten. */
export function newFile(name: string, cwd: string, flags: { readonly force?: boolean }): string {
  const file = resolve(cwd, name);
  if (!existsSync(file)) return file;
  if (statSync(file).isDirectory()) throw usageError(`${quoteFile(name)} is a folder. Name a file.`);
  if (flags.force) return file;
  throw new SandboxError(
    "file_exists",
    `${quoteFile(name)} already exists and is unchanged. Overwrite it with --force, or name another file.`,
  );
}

/** The text of a file of the project; `undefined` if it has none of this name. Throws a usage error if it cannot be read. */
export async function readProjectFile(cwd: string, name: string): Promise<string | undefined> {
  const file = resolve(cwd, name);
  if (!existsSync(file)) return undefined;
  try {
    rejectEndlessFile(statSync(file));
    return await readFile(file, "utf8");
  } catch (error) {
    throw usageError(`Failed to read ${quoteFile(name)}: ${readFailure(error)}.`);
  }
}

/** Writes a file, which messages call by its name. */
export function writeProjectFile(file: string, text: string | Buffer, name = file): void {
  try {
    writeWholeFile(file, text, 0o666);
  } catch (cause) {
    throw unwritable(cause, quoteFile(name));
  }
}

/** Returns the path from a folder to a file of the installed package. A package that `npx` downloaded is not found. */
export function installedFile(folder: string, name: string): string | undefined {
  for (let above = folder; ; above = dirname(above)) {
    const path = join(above, "node_modules/svc-sandbox", name);
    if (existsSync(path)) {
      const fromFolder = relative(folder, path).replaceAll("\\", "/");
      return fromFolder.startsWith(".") ? fromFolder : `./${fromFolder}`;
    }
    if (above === dirname(above)) return undefined;
  }
}
