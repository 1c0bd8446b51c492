import { accessSync, chmodSync, closeSync, constants, openSync, statSync, writeFileSync } from "node:fs";
import { dirname, extname, resolve } from "node:path";
import { makeFolder, replaceFile, resolveLinks } from "../node/files/write-file.js";
import { formats, type ReportFormat, reportFormats } from "../report/render/layout.js";
import type { SandboxError } from "../rules/errors.js";
import { redactPlainKeys } from "../rules/keys/redact.js";
import { listed, quoteFile } from "../schema/words.js";
import { unwritable, usageError } from "./exit-codes.js";
import type { Io } from "./io.js";

const { O_WRONLY, O_CREAT, O_TRUNC, O_APPEND, O_NONBLOCK = 0 } = constants;

/**
 * Writes the whole content of a file. A usual file is replaced in one step, or left as it is after a failure: a new one gets
 * `modeOfNew`, one that exists keeps its mode and the symbolic links to it. A device, a pipe and a file with several hard links
 * cannot be replaced: the content is written into them, and a failure may leave a part of it.
 */
export function writeWholeFile(file: string, text: string | Uint8Array, modeOfNew: number): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) {
    replaceFile(resolveLinks(file), [text], modeOfNew);
    return;
  }
  accessSync(file, constants.W_OK);
  if (!stats.isFile() || stats.nlink > 1) {
    writeInto(file, text, O_TRUNC);
    return;
  }

  const target = resolveLinks(file);
  const mode = stats.mode & 0o777;
  replaceFile(target, [text], mode);
  // The mask of this process, which narrows the mode of the replacement, does not apply to the user's file.
  chmodSync(target, mode);
}

/** Writes a report where the user wants it. Makes its folder again if the command has removed it. */
export function writeReportFile(file: string, text: string, isAppended = false): void {
  makeFolder(dirname(file));
  // An output of this process may be a file with earlier lines: `/dev/stdout`, `/dev/fd/3`, `/proc/self/fd/3`.
  const isOutput = /^\/(?:dev\/(?:stdout|stderr|fd\/\d+)|proc\/\w+\/fd\/\d+)$/.test(file);
  writeInto(file, text, O_CREAT | (isAppended || isOutput ? O_APPEND : O_TRUNC));
}

/** Writes into a file as it is. O_NONBLOCK does not wait for the reader of a pipe. */
function writeInto(file: string, text: string | Uint8Array, flags: number): void {
  const descriptor = openSync(file, O_WRONLY | O_NONBLOCK | flags, 0o666);
  try {
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

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

  if (file === stdoutName) return { file, format, isAppended };
  try {
    // Throws what the write to this file would, as far as it can be known before.
    const path = resolve(cwd, file);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory()) throw new Error("it is a directory");
    accessSync(stats === undefined ? dirname(path) : path, constants.W_OK);
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
