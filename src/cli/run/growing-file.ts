import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { basename } from "node:path";

// Windows lacks some of them.
const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
const megabyte = 1024 * 1024;
const maxFileLength = 256 * megabyte;
/** The most bytes of a line without its end. No request has as many: bodies have at most 64 KiB, and headers as much. */
const maxOpenLine = megabyte;
/** How many bytes are read together. */
const readTogether = 64 * 1024;

/** A text file to which another process adds lines. */
export class GrowingFile {
  /** How far it has been read. */
  #position = 0;
  /** The bytes after the last line end. */
  #openLine: Buffer = Buffer.alloc(0);

  /** Whether its last line has no end: it is not written yet, or was cut. */
  get hasOpenLine(): boolean {
    return this.#openLine.length > 0;
  }

  /** Reads the lines that have ended since the last call. The file may have another name each time. */
  readLines(path: string): string[] {
    const lines: string[] = [];
    const portion = Buffer.alloc(readTogether);
    const descriptor = openRegular(path);
    try {
      for (;;) {
        const length = readSync(descriptor, portion, 0, portion.length, this.#position);
        if (length === 0) return lines;
        this.#position += length;
        lines.push(...this.#endLines(portion.subarray(0, length)));
        if (this.#openLine.length > maxOpenLine) {
          throw new Error(`${basename(path)} has a line of more than ${maxOpenLine / megabyte} MB`);
        }
      }
    } finally {
      closeSync(descriptor);
    }
  }

  /** Returns the lines that end in these bytes, and keeps the line that does not. */
  #endLines(added: Buffer): string[] {
    const bytes = Buffer.concat([this.#openLine, added]);
    const end = bytes.lastIndexOf("\n") + 1;
    this.#openLine = bytes.subarray(end);

    const lines = bytes.toString("utf8", 0, end).split("\n");
    // Nothing follows the last line end.
    lines.pop();
    return lines;
  }
}

/** Opens a file that any program may have put there: reading a pipe would wait, and a device has no end. */
function openRegular(file: string): number {
  if (lstatSync(file).isSymbolicLink()) throw new Error(`${basename(file)} is a symbolic link`);
  const descriptor = openSync(file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  const stats = fstatSync(descriptor);
  if (stats.isFile() && stats.size <= maxFileLength) return descriptor;
  closeSync(descriptor);
  throw new Error(`${basename(file)} is not a regular file of at most ${maxFileLength / megabyte} MB`);
}
