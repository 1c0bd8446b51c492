import { accessSync, closeSync, constants, mkdirSync, openSync, statSync, writeFileSync } from "node:fs";
import { dirname, extname, resolve } from "node:path";
import { formats, type ReportFormat, reportFormats } from "../report/render/layout.js";
import type { SandboxError } from "../rules/errors.js";
import { redactPlainKeys } from "../rules/keys/redact.js";
import { listed, quoteFile } from "../schema/words.js";
import { unwritable, usageError } from "./exit-codes.js";
import type { Io } from "./io.js";

const { O_WRONLY, O_CREAT, O_TRUNC, O_NONBLOCK = 0 } = constants;

/** How a file is opened: replaced, and without a wait for the reader of a pipe. Windows has no such flag. */
const withoutWaiting = O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK;

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
}

/** Throws a usage error if a file has no format or cannot be written: before the command runs, not after it. */
export function reportTargets(
  files: readonly string[] = [],
  flag: FilesFlag,
  io: Pick<Io, "cwd">,
  formatOfFlag?: ReportFormat,
): ReportTarget[] {
  return files.map((file) => reportTarget(file, flag, io, formatOfFlag));
}

function reportTarget(
  file: string,
  flag: FilesFlag,
  { cwd }: Pick<Io, "cwd">,
  formatOfFlag: ReportFormat | undefined,
): ReportTarget {
  // The summary of a job on GitHub, which is Markdown, has no extension.
  let extension = extname(file).toLowerCase() || ".md";
  if (file === stdoutName) extension = ".txt";
  const possibleFormats = flag.formats ?? reportFormats;
  const format = formatOfFlag ?? possibleFormats.find((name) => formats[name].extensions.includes(extension));
  if (format === undefined) {
    const alternative = flag.formats === undefined ? ", or set the format with --format" : "";
    throw usageError(
      `${flag.name}: the name ${quoteFile(file)} does not set the format of ${flag.contents}. End it with ${extensionWords(possibleFormats)}${alternative}.`,
    );
  }

  if (file === stdoutName) return { file, format };
  try {
    // Throws what the write to this file would, as far as it can be known before.
    const path = resolve(cwd, file);
    mkdirSync(dirname(path), { recursive: true });
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory()) throw new Error("it is a directory");
    accessSync(stats === undefined ? dirname(path) : path, constants.W_OK);
  } catch (cause) {
    throw unwritableTarget(cause, file, flag);
  }
  return { file, format };
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
  for (const { file, format } of targets) {
    const text = redactPlainKeys(render(format));
    if (file === stdoutName) {
      stdout.write(text);
      continue;
    }
    try {
      const path = resolve(cwd, file);
      // The command may have removed its folder.
      mkdirSync(dirname(path), { recursive: true });
      replaceContents(path, text);
    } catch (cause) {
      failures.push(unwritableTarget(cause, file, flag));
    }
  }
  return failures;
}

function replaceContents(path: string, text: string): void {
  const descriptor = openSync(path, withoutWaiting);
  try {
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
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
