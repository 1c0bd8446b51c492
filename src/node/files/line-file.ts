import { closeSync, constants, ftruncateSync, openSync, rmSync, statSync, writeFileSync } from "node:fs";
import { writeFileAtomically } from "./write-file.js";

const { O_WRONLY, O_APPEND } = constants;

export type LineFile = ReturnType<typeof createLineFile>;

/**
 * Makes a file that only this process writes: a first text, and lines after it. Only its owner can read it. All functions throw
 * the error of the file system, and leave the file unchanged then.
 */
export function createLineFile(file: string) {
  /** What the file system showed after the last write. */
  let known = shownOf(file);
  let first = known?.size ?? 0;
  return {
    /** Whether another program has written the file since the last write. */
    isForeign(): boolean {
      const found = shownOf(file);
      return found !== undefined && found.text !== known?.text;
    },
    /** The bytes of the first text, and of the lines after it (`rest`); both are 0 without a file. */
    sizes: () => ({ first: known === undefined ? 0 : first, rest: (known?.size ?? 0) - first }),
    /** Replaces everything with a first text, unless `check` throws. */
    replace(text: string, check?: () => void): void {
      writeFileAtomically(file, text, 0o600, check);
      known = shownOf(file);
      first = known?.size ?? 0;
    },
    /** Appends lines; returns whether there is a file. */
    append(text: string): boolean {
      if (known === undefined || shownOf(file) === undefined) return false;
      const descriptor = openSync(file, O_WRONLY | O_APPEND);
      try {
        writeFileSync(descriptor, text);
      } catch (error) {
        // A full disk may have taken a part.
        ftruncateSync(descriptor, known.size);
        throw error;
      } finally {
        closeSync(descriptor);
        known = shownOf(file);
      }
      return true;
    },
    remove(): void {
      rmSync(file, { force: true });
      known = undefined;
    },
  };
}

function shownOf(file: string) {
  const { ino, size, mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return ino === undefined || size === undefined ? undefined : { size, text: `${ino} ${size} ${mtimeMs}` };
}
