import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { SandboxError } from "../domain/errors.js";
import { quote } from "../schema/words.js";

/** The path of a file to be written; throws `file_exists` for one that is there, unless it may be overwritten. */
export function newFile(
  name: string,
  cwd: string,
  { force = false }: { force?: boolean | undefined },
): string {
  const file = resolve(cwd, name);
  if (force || !existsSync(file)) return file;
  throw new SandboxError(
    "file_exists",
    `Failed to write ${quote(name)}: it exists already, and nothing was changed. Overwrite it with --force, or name another file.`,
  );
}
