import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  openSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { makeFolder, replaceFile, resolveLinks } from "../../node/files/write-file.js";

const { O_WRONLY, O_CREAT, O_TRUNC, O_APPEND, O_NONBLOCK = 0 } = constants;

/** How a text gets into a file that is not replaced. */
type WriteMode =
  /** In place of what the file has. */
  | "overwrite"
  /** After what the file has. */
  | "append"
  /** Into a device, a pipe, or an output of this process, which may have earlier lines. */
  | "stream";

/** The flags that open a file in each mode. Only a stream must exist. */
const openFlags: Readonly<Record<WriteMode, number>> = {
  overwrite: O_CREAT | O_TRUNC,
  append: O_CREAT | O_APPEND,
  stream: O_APPEND,
};

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
  if (!stats.isFile()) {
    writeInto(file, text, "stream");
    return;
  }
  if (stats.nlink > 1) {
    writeInto(file, text, "overwrite");
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
  const stats = statSync(file, { throwIfNoEntry: false });
  if (isStream(file, stats)) writeInto(file, text, "stream");
  else writeInto(file, text, isAppended ? "append" : "overwrite");
}

/** An output of this process, which may be a usual file: `/dev/stdout`, `/dev/fd/3`, `/proc/self/fd/3`. */
const outputOfThisProcess = /^\/(?:dev\/(?:stdout|stderr|fd\/\d+)|proc\/\w+\/fd\/\d+)$/;

function isStream(file: string, stats: Stats | undefined): boolean {
  if (outputOfThisProcess.test(file)) return true;
  return stats !== undefined && !stats.isFile();
}

function writeInto(file: string, text: string | Uint8Array, mode: WriteMode): void {
  // O_NONBLOCK does not wait for the reader of a pipe.
  const descriptor = openSync(file, O_WRONLY | O_NONBLOCK | openFlags[mode], 0o666);
  try {
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

/** Throws what the write of a report to this file would, as far as it can be known before. */
export function requireWritable(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.isDirectory()) throw new Error("it is a directory");
  const written = stats === undefined ? dirname(file) : file;
  accessSync(written, constants.W_OK);
}
