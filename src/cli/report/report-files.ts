import { existsSync } from "node:fs";
import { dirname, extname, resolve } from "node:path";
import { formats, type ReportFormat, reportFormats } from "../../report/render/layout.js";
import type { SandboxError } from "../../rules/errors.js";
import { redactPlainKeys } from "../../rules/keys/redact.js";
import { listed, quoteFile } from "../../schema/words.js";
import { unwritable, usageError } from "../exit-codes.js";
import { requireWritable, writeReportFile } from "../files/output-file.js";
import type { Io } from "../io.js";

/** What `-` stands for in place of a file. */
const stdoutName = "-";

/** A flag that names files to write, for example `--report`, and what they contain, `the report`. */
interface FilesFlag {
  readonly name: string;
  readonly contents: string;
  /** The formats that it may have. Default: all, and --format may set one. */
  readonly formats?: readonly ReportFormat[];
}

/** A file to write, or stdout, and its format. */
export interface ReportTarget {
  readonly file: string;
  readonly format: ReportFormat;
  /** Whether the text is added to what the file has. */
  readonly isAppended: boolean;
}

/** Throws a usage error if a file has no format or cannot be written: before the command runs, not after it. */
export function reportTargets(
  files: readonly string[] = [],
  flag: FilesFlag,
  io: Pick<Io, "env" | "cwd">,
  formatOfFlag?: ReportFormat,
): ReportTarget[] {
  return files.map((file) => reportTarget(file, flag, io, formatOfFlag));
}

function reportTarget(
  file: string,
  flag: FilesFlag,
  { env, cwd }: Pick<Io, "env" | "cwd">,
  formatOfFlag: ReportFormat | undefined,
): ReportTarget {
  const folder = dirname(file);
  if (!existsSync(resolve(cwd, folder))) {
    throw usageError(
      `${flag.name}: there is no folder ${quoteFile(folder)} for ${quoteFile(file)}. Create it first.`,
    );
  }

  // All steps of a job on GitHub add to one file, which has no extension.
  const isAppended = resolve(cwd, file) === env.GITHUB_STEP_SUMMARY;
  let extension = extname(file).toLowerCase();
  if (isAppended) extension = ".md";
  if (file === stdoutName) extension = ".txt";
  const possibleFormats = flag.formats ?? reportFormats;
  const format = formatOfFlag ?? possibleFormats.find((name) => formats[name].extensions.includes(extension));
  if (format === undefined) {
    const alternative = flag.formats === undefined ? ", or set the format with --format" : "";
    throw usageError(
      `${flag.name}: the name ${quoteFile(file)} does not set the format of ${flag.contents}. End it with ${extensionWords(possibleFormats)}${alternative}.`,
    );
  }

  try {
    if (file !== stdoutName) requireWritable(resolve(cwd, file));
  } catch (cause) {
    throw unwritableTarget(cause, file, flag);
  }
  return { file, format, isAppended };
}

function unwritableTarget(cause: unknown, file: string, flag: FilesFlag): SandboxError {
  return unwritable(cause, `${flag.contents} to ${quoteFile(file)}`, `Name another file with ${flag.name}.`);
}

/** Writes each file; resolves to the errors of those that could not be written. */
export async function writeTargets(
  targets: readonly ReportTarget[],
  render: (format: ReportFormat) => string,
  flag: FilesFlag,
  { cwd, stdout }: Pick<Io, "cwd" | "stdout">,
): Promise<SandboxError[]> {
  const failures: SandboxError[] = [];
  for (const { file, format, isAppended } of targets) {
    const text = redactPlainKeys(render(format));
    if (file === stdoutName) {
      stdout.write(text);
      continue;
    }
    try {
      writeReportFile(resolve(cwd, file), text, isAppended);
    } catch (cause) {
      failures.push(unwritableTarget(cause, file, flag));
    }
  }
  return failures;
}

/** The extensions of these formats in a sentence: `.txt (Text), .json or …`. */
export function extensionWords(names: readonly ReportFormat[] = reportFormats): string {
  const words = names.map((format) => {
    const { title, extensions } = formats[format];
    const [extension] = extensions;
    return extension === `.${format}` ? extension : `${extension} (${title})`;
  });
  return listed(words, "or");
}
