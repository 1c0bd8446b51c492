import { existsSync, promises, statSync } from "node:fs";
import { dirname, extname, resolve } from "node:path";
import { otherLineOf, withVariables } from "../node/client-variables.js";
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

/** Reads the file of `--write-env`, if there is one; what it returns sets variables there. Other lines and the mode stay. */
export async function openEnvFile(
  name: string,
  cwd: string,
): Promise<(variables: Readonly<Record<string, string>>) => Promise<void>> {
  const file = resolve(cwd, name);
  const failed = unwritable(quote(name), "Name another file with --write-env.");
  // With the slash, only a folder exists.
  if (!existsSync(`${dirname(file)}/`)) failed({ code: "ENOENT" });
  const stats = existsSync(file) ? statSync(file) : undefined;
  // A pipe or a device has no lines to keep.
  const existing = stats?.isFile() ? stats.mode & 0o777 : undefined;
  // Latin-1 keeps every byte.
  const text = existing === undefined ? "" : await promises.readFile(file, "latin1").catch(failed);
  if (text.includes("\0")) failed(new Error("it is not a text file in UTF-8"));
  if (stats?.isFile() && (stats.mode & 0o222) === 0) failed(new Error("it is read-only"));
  const line = otherLineOf(text);
  if (line !== undefined)
    failed(new Error(`its line ${line} is not NAME=value, a comment or empty, so it is not a .env file`));
  return async (variables) => {
    const bytes = Buffer.from(withVariables(text, variables), "latin1");
    await writeFileAtomically(file, bytes, existing ?? 0o600).catch(failed);
    // The mask of this process does not apply to the user's file.
    if (existing !== undefined) await promises.chmod(file, existing).catch(failed);
  };
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
