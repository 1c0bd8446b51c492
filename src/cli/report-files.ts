import { existsSync } from "node:fs";
import { dirname, extname, resolve } from "node:path";
import { requireWritable, writeReportFile } from "../node/files/write-file.js";
import { extensionWords, formats, type ReportFormat, reportFormats } from "../report/render/layout.js";
import { redactKeys } from "../rules/redact.js";
import { quoteFile } from "../rules/schema/words.js";
import { unwritable, usageError } from "./exit-codes.js";
import type { Io } from "./io.js";

export interface ReportTarget {
  readonly file: string;
  readonly format: ReportFormat;
  readonly isAppended: boolean;
}

/** A flag that names files, for example `--report`, and what they contain, `the report`. */
interface FilesFlag {
  readonly name: string;
  readonly what: string;
  /** The formats that it may have. Default: all, and --format may set one. */
  readonly formats?: readonly ReportFormat[];
}

export function reportTargets(
  files: readonly string[] = [],
  { name, what, formats: allowed }: FilesFlag,
  { env, cwd }: Pick<Io, "env" | "cwd">,
  formatOfFlag?: ReportFormat,
): ReportTarget[] {
  return files.map((file) => {
    // All steps of a job add to one file, which has no extension.
    const isAppended = resolve(cwd, file) === env.GITHUB_STEP_SUMMARY;
    const extension = { "-": ".txt" }[file] ?? (isAppended ? ".md" : extname(file).toLowerCase());
    const names = allowed ?? reportFormats;
    const format = formatOfFlag ?? names.find((name) => formats[name].extensions.includes(extension));
    const folder = dirname(file);
    if (!existsSync(resolve(cwd, folder))) {
      throw usageError(
        `${name}: there is no folder ${quoteFile(folder)} for ${quoteFile(file)}. Create it first.`,
      );
    }
    if (format === undefined) {
      const other = allowed === undefined ? ", or set the format with --format" : "";
      throw usageError(
        `${name}: the name ${quoteFile(file)} does not set the format of ${what}. End it with ${extensionWords(names)}${other}.`,
      );
    }
    try {
      if (file !== "-") requireWritable(resolve(cwd, file));
    } catch (error) {
      notWritten(file, { name, what })(error);
    }
    return { file, format, isAppended };
  });
}

const notWritten = (file: string, { name, what }: FilesFlag) =>
  unwritable(`${what} to ${quoteFile(file)}`, `Name another file with ${name}.`);

export async function writeTargets(
  targets: readonly ReportTarget[],
  render: (format: ReportFormat) => string,
  flag: FilesFlag,
  { cwd, stdout }: Pick<Io, "cwd" | "stdout">,
): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (const { file, format, isAppended } of targets) {
    if (file === "-") stdout.write(redactKeys(render(format)));
    else
      await writeReportFile(resolve(cwd, file), redactKeys(render(format)), isAppended)
        .catch(notWritten(file, flag))
        .catch((failure) => failures.push(failure));
  }
  return failures;
}
