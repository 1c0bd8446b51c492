import { stat } from "node:fs/promises";

/** Between two checks of the files. */
const pollIntervalMs = 100;

/** Polls files, which also works on network drives and container volumes, and for files that are removed or replaced. */
export class FileWatch {
  readonly #readAgain: () => Promise<void>;
  #files: readonly string[] = [];
  /** The state of the files that was read last. */
  #readState = "";
  /** The state of the files at the latest check. */
  #latestState = "";
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  /** The latest check, which may be under way. */
  #check: Promise<void> | undefined;

  /** `readAgain` reads the files after a change of one of them; it does not reject. */
  constructor(readAgain: () => Promise<void>) {
    this.#readAgain = readAgain;
  }

  /** The files that are followed. */
  get files(): readonly string[] {
    return this.#files;
  }

  /** Follows these files in place of others. A change after `readAt`, when the reading of the files began, is not read yet; with 0, each file is to be read. */
  async follow(files: readonly string[], readAt: number): Promise<void> {
    const sorted = files.toSorted();
    if (sorted.join("\n") === this.#files.join("\n")) return;
    this.#files = sorted;
    this.#readState = await stateReadAt(sorted, readAt);
    if (!this.#isClosed) this.#check ??= this.#checkFiles();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#check;
  }

  async #checkFiles(): Promise<void> {
    const state = await stateNow(this.#files);
    // A burst of changes has ended when two checks find the same state.
    const isSettled = state === this.#latestState;
    this.#latestState = state;
    if (isSettled && state !== this.#readState && !this.#isClosed) {
      this.#readState = state;
      await this.#readAgain();
    }

    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#check = this.#checkFiles();
    }, pollIntervalMs);
  }
}

/** The state of one file. */
interface FileState {
  /** Another text after each change. */
  readonly text: string;
  /** Milliseconds; 0 for a missing file. */
  readonly changedAt: number;
}

/** The state of files: another text after each change of one of them. */
async function stateNow(files: readonly string[]): Promise<string> {
  const states = await Promise.all(files.map(stateOf));
  return states.map(({ text }) => text).join("\n");
}

/** The state of files that was read at a time. Of a file that has changed since, that state is not known. */
async function stateReadAt(files: readonly string[], readAt: number): Promise<string> {
  const states = await Promise.all(files.map(stateOf));
  return states.map(({ text, changedAt }) => (changedAt > readAt ? "unknown" : text)).join("\n");
}

async function stateOf(file: string): Promise<FileState> {
  try {
    const { ctimeMs, mtimeMs, size, dev, ino } = await stat(file);
    // A link to another file changes no time of that file.
    return { text: `${dev} ${ino} ${ctimeMs} ${mtimeMs} ${size}`, changedAt: ctimeMs };
  } catch {
    return { text: "missing", changedAt: 0 };
  }
}
