import { chmodSync, lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { quoteFile } from "../../schema/words.js";
import { unwritable } from "../exit-codes.js";
import { type ClientVariables, findForeignLine, withVariables } from "./env-text.js";
import { writeWholeFile } from "./output-file.js";

/** Only the user reads a new file: it has keys. */
const newFileMode = 0o600;

/** Sets variables in the file of `--write-env`: other lines stay. Returns whether it took the file from others, because of a token. */
export function writeEnvFile(name: string, cwd: string, variables: ClientVariables): boolean {
  const file = resolve(cwd, name);
  try {
    const existing = readEnvFile(file);
    const text = withVariables(existing.text, variables);
    // Nobody else may read a token, also while it is written.
    const hasToken = "SVC_SANDBOX_CONTROL_TOKEN" in variables;
    const isNarrowed = hasToken && (existing.mode & 0o077) !== 0;
    if (isNarrowed) chmodSync(file, existing.mode & 0o700);
    writeWholeFile(file, Buffer.from(text, "latin1"), newFileMode);
    return isNarrowed;
  } catch (cause) {
    throw unwritable(cause, quoteFile(name), "Name another file with --write-env.");
  }
}

interface EnvFileContent {
  /** Read as Latin-1, which keeps every byte. */
  readonly text: string;
  readonly mode: number;
}

/** The content of a `.env` file; of one that does not exist, what a new one starts with. Throws if it is not one that may be changed. */
function readEnvFile(file: string): EnvFileContent {
  // Throws if there is no folder for it. With the slash at its end, a file in place of the folder throws, too.
  statSync(`${dirname(file)}/`);
  requireOwnLink(file);
  const stats = statSync(file, { throwIfNoEntry: false });
  // A pipe or a device has no lines to keep.
  if (!stats?.isFile()) return { text: "", mode: newFileMode };

  const user = process.getuid?.();
  if (user !== undefined && user !== stats.uid) throw new Error("it belongs to another user");
  const text = readFileSync(file, "latin1");
  if (text.includes("\0")) throw new Error("it is not a text file in UTF-8");
  if ((stats.mode & 0o222) === 0) throw new Error("it is read-only");
  const line = findForeignLine(text);
  if (line !== undefined) {
    throw new Error(`its line ${line} is not NAME=value, a comment or empty, so it is not a .env file`);
  }
  return { text, mode: stats.mode & 0o777 };
}

/** Throws if the file is a link of another user, who could choose any file of ours. An administrator may make a link for everybody. */
function requireOwnLink(file: string): void {
  const user = process.getuid?.();
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (user === undefined || !stats?.isSymbolicLink()) return;
  const isTrusted = stats.uid === user || stats.uid === 0;
  if (isTrusted) return;
  throw new Error("it is a symbolic link of another user");
}
