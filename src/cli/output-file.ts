import { accessSync, closeSync, constants, openSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder, replaceFile, resolveLinks } from "../node/files/write-file.js";

// O_NONBLOCK does not wait for the reader of a pipe.
const { O_WRONLY, O_CREAT, O_TRUNC, O_APPEND, O_NONBLOCK = 0 } = constants;

/** Writes a whole file or nothing. Keeps links; writes into devices, pipes and files with several links. A failure leaves no draft behind. */
export function writeFileAtomically(file: string, text: string | Uint8Array, mode: number): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  const isSpecial = stats !== undefined && !stats.isFile();
  const hasMoreLinks = stats !== undefined && stats.nlink > 1;
  if (isSpecial) writeInto(file, text, 0);
  else if (hasMoreLinks) writeInto(file, text, O_TRUNC);
  else replaceFile(resolveLinks(file), [text], mode);
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
