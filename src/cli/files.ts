import { chmodSync, existsSync, promises, readFileSync, statSync } from "node:fs";
import { dirname, extname, resolve } from "node:path";
import { type ClientVariables, otherLineOf, withVariables } from "../node/client-variables.js";
import { readFailure, writeFileAtomically, writeReportFile } from "../node/files/write-file.js";
import { extensionWords, formats, type ReportFormat, reportFormats } from "../report/render/layout.js";
import { SandboxError } from "../rules/errors.js";
import { redactKeys } from "../rules/redact.js";
import { quote } from "../rules/schema/words.js";
import { unwritable, usageError } from "./exit-codes.js";
import type { Io } from "./io.js";

export function newFile(
  name: string,
  cwd: string,
  { force = false }: { force?: boolean | undefined },
): string {
  const file = resolve(cwd, name);
  if (!existsSync(file)) return file;
  if (statSync(file).isDirectory()) throw usageError(`${quote(name)} is a folder. Name a file.`);
  if (force) return file;
  throw new SandboxError(
    "file_exists",
    `${quote(name)} already exists and is unchanged. Overwrite it with --force, or name another file.`,
  );
}

/** Returns what sets variables in the file of `--write-env`: other lines stay. It returns whether it took the file from others, because of a token. */
export function openEnvFile(name: string, cwd: string): (variables: ClientVariables) => boolean {
  const file = resolve(cwd, name);
  let before: ClientVariables = {};
  return (variables) => {
    try {
      const { text, mode: existing } = readEnvFile(file);
      const bytes = Buffer.from(withVariables(text, variables, before), "latin1");
      const mode = (existing ?? 0o600) & ("SVC_SANDBOX_CONTROL_TOKEN" in variables ? 0o700 : 0o777);
      writeFileAtomically(file, bytes, mode);
      // The mask of this process does not apply to the user's file.
      if (existing !== undefined) chmodSync(file, mode);
      before = variables;
      return existing !== undefined && mode !== existing;
    } catch (error) {
      return unwritable(quote(name), "Name another file with --write-env.")(error);
    }
  };
}

function readEnvFile(file: string): { readonly text: string; readonly mode?: number } {
  // With the slash, only a folder exists.
  statSync(`${dirname(file)}/`);
  const stats = statSync(file, { throwIfNoEntry: false });
  // A pipe or a device has no lines to keep.
  if (!stats?.isFile()) return { text: "" };
  // Latin-1 keeps every byte.
  const text = readFileSync(file, "latin1");
  if (text.includes("\0")) throw new Error("it is not a text file in UTF-8");
  if ((stats.mode & 0o222) === 0) throw new Error("it is read-only");
  const line = otherLineOf(text);
  if (line !== undefined)
    throw new Error(`its line ${line} is not NAME=value, a comment or empty, so it is not a .env file`);
  return { text, mode: stats.mode & 0o777 };
}

export interface ReportTarget {
  readonly file: string;
  readonly format: ReportFormat;
  readonly isAppended: boolean;
}

/** A flag that names files, for example `--report`, and what they contain, `the report`. */
interface FilesFlag {
  readonly name: string;
  readonly what: string;
}

export function reportTargets(
  files: readonly string[] = [],
  { name, what }: FilesFlag,
  { env, cwd }: Pick<Io, "env" | "cwd">,
  given?: ReportFormat,
): ReportTarget[] {
  return files.map((file) => {
    // All steps of a job add to one file, which has no extension.
    const isAppended = resolve(cwd, file) === env.GITHUB_STEP_SUMMARY;
    const extension = { "-": ".txt" }[file] ?? (isAppended ? ".md" : extname(file).toLowerCase());
    const format = given ?? reportFormats.find((name) => formats[name].extensions.includes(extension));
    const folder = dirname(file);
    if (!existsSync(resolve(cwd, folder))) {
      throw usageError(`${name}: there is no folder ${quote(folder)} for ${quote(file)}. Create it first.`);
    }
    if (format !== undefined) return { file, format, isAppended };
    throw usageError(
      `${name}: the name ${quote(file)} does not set the format of ${what}. End it with ${extensionWords}.`,
    );
  });
}

/** Reads a file of the user; throws `usage` if it cannot be read. `what` is a noun such as `the report`. */
export async function readGivenFile(file: string, what: string, { cwd }: Pick<Io, "cwd">): Promise<string> {
  return promises.readFile(resolve(cwd, file), "utf8").catch((error) => {
    throw usageError(`Failed to read ${what} ${quote(file)}: ${readFailure(error)}.`);
  });
}

export async function writeTargets(
  targets: readonly ReportTarget[],
  render: (format: ReportFormat) => string,
  { name, what }: FilesFlag,
  { cwd, stdout }: Pick<Io, "cwd" | "stdout">,
): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (const { file, format, isAppended } of targets) {
    if (file === "-") stdout.write(redactKeys(render(format)));
    else
      await writeReportFile(resolve(cwd, file), redactKeys(render(format)), isAppended)
        .catch(unwritable(`${what} to ${quote(file)}`, `Name another file with ${name}.`))
        .catch((failure) => failures.push(failure));
  }
  return failures;
}
