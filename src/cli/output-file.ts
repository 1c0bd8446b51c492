import { accessSync, chmodSync, closeSync, constants, openSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder, replaceFile, resolveLinks } from "../node/files/write-file.js";

// O_NONBLOCK does not wait for the reader of a pipe.
const { O_WRONLY, O_CREAT, O_TRUNC, O_APPEND, O_NONBLOCK = 0 } = constants;

/**
 * Writes a whole file or nothing. A new file gets `modeOfNew`; one that exists keeps its mode and its links. Devices, pipes and
 * files with several links are written into. A failure leaves no draft behind.
 */
export function writeFileAtomically(file: string, text: string | Uint8Array, modeOfNew: number): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) {
    replaceFile(resolveLinks(file), [text], modeOfNew);
    return;
  }
  if (!stats.isFile()) {
    writeInto(file, text, 0);
    return;
  }
  if (stats.nlink > 1) {
    writeInto(file, text, O_TRUNC);
    return;
  }

  const target = resolveLinks(file);
  const mode = stats.mode & 0o777;
  replaceFile(target, [text], mode);
  // The mask of this process, which narrows the mode of the replacement, does not apply to the user's file.
  chmodSync(target, mode);
}

/** Writes into a device, a pipe or a file without replacing it. */
function writeInto(file: string, text: string | Uint8Array, flags: number): void {
  const descriptor = openSync(file, O_WRONLY | O_NONBLOCK | flags, 0o666);
  try {
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

/** Writes a report where the user wants it; makes its folder. */
export async function writeReportFile(file: string, text: string, isAppended = false): Promise<void> {
  makeFolder(dirname(file));
  // Not through a draft, because the file may be a pipe, or standard output with earlier lines.
  const isStream = /^\/(?:dev|proc)\//.test(file);
  if (isStream) writeInto(file, text, O_APPEND);
  else writeInto(file, text, O_CREAT | (isAppended ? O_APPEND : O_TRUNC));
}

/** Throws what the write of a report to this file would, as far as it can be known before. */
export function requireWritable(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.isDirectory()) throw new Error("it is a directory");
  const written = stats === undefined ? dirname(file) : file;
  accessSync(written, constants.W_OK);
}
