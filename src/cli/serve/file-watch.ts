// Looks at files again and again, which also works on network drives and container volumes, and for files that are removed
// or replaced. What a check finds, of files that were read in the state A:
//
//   check   state   finding
//   1       A       as_read
//   2       B       changing: an editor may be writing
//   3       C       changing
//   4       C       changed: two checks found the same state, so the files are read again

import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { nodePlatform } from "../../node/platform.js";

/** Milliseconds between two checks of the files. */
const pollIntervalMs = 100;

type FilesFound =
  /** The files are as they were read. */
  | "as_read"
  /** They have changed since they were read, and since the check before. */
  | "changing"
  /** They have changed since they were read, but not since the check before. */
  | "changed";

/** A reading of files. */
export interface FileReading {
  /** The files to follow from now on. */
  readonly files: readonly string[];
  /** Called once these files are followed: no later change is missed. */
  readonly onFollowed: () => void;
}

/** Watches files, and has them read again after a change. */
export class FileWatch {
  readonly #readAgain: () => Promise<FileReading>;
  #files: readonly string[] = [];
  #stateAsRead = "";
  #stateAtLastCheck = "";
  readonly #closing = new AbortController();
  /** All checks, from the start until the watch is closed. */
  #checks: Promise<void> | undefined;

  /** `readAgain` reads the files after a change; it does not reject. */
  constructor(readAgain: () => Promise<FileReading>) {
    this.#readAgain = readAgain;
  }

  /** The files that are followed. */
  get files(): readonly string[] {
    return this.#files;
  }

  /** Starts to follow files. `readAt` is the time at which their reading began, or says that they are to be read first. */
  async start(files: readonly string[], readAt: number | "unread"): Promise<void> {
    this.#files = sortedOnce(files);
    if (readAt === "unread") this.#stateAsRead = unreadState;
    else this.#stateAsRead = await stateUnlessChangedSince(readAt, this.#files);
    this.#checks = this.#checkUntilClosed();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#checks;
  }

  async #checkUntilClosed(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const state = await stateNow(this.#files);
      const finding = this.#compare(state);
      this.#stateAtLastCheck = state;
      if (finding === "changed" && !signal.aborted) await this.#read(state);
      // An abort rejects, which also ends the pause.
      await sleep(pollIntervalMs, undefined, { signal }).catch(() => {});
    }
  }

  #compare(state: string): FilesFound {
    if (state === this.#stateAsRead) return "as_read";
    return state === this.#stateAtLastCheck ? "changed" : "changing";
  }

  /** Has the files read, which are in this state. */
  async #read(state: string): Promise<void> {
    const readAt = nodePlatform.time();
    const reading = await this.#readAgain();
    const files = sortedOnce(reading.files);
    // If they are the same ones, the next check finds what has changed since this state.
    const areSame = files.join("\n") === this.#files.join("\n");
    this.#stateAsRead = areSame ? state : await stateUnlessChangedSince(readAt, files);
    this.#files = files;
    reading.onFollowed();
  }
}

/** The names of files in their order, each once. */
function sortedOnce(files: readonly string[]): readonly string[] {
  return [...new Set(files)].sort();
}

/** In place of the state of a file as it was read, if the file is to be read again: no file has this state. */
const unreadState = "unread";

/** The state of one file. */
interface FileState {
  /** Another text after each change. */
  readonly text: string;
  /** Milliseconds; 0 for a missing file. */
  readonly changedAt: number;
}

/** The state of files: another text after each change of one of them. */
async function stateNow(files: readonly string[]): Promise<string> {
  const states = await Promise.all(files.map(fileState));
  return states.map(({ text }) => text).join("\n");
}

/** The state of files that were read at a time. A file that has changed since then counts as unread. */
async function stateUnlessChangedSince(readAt: number, files: readonly string[]): Promise<string> {
  const states = await Promise.all(files.map(fileState));
  return states.map(({ text, changedAt }) => (changedAt >= readAt ? unreadState : text)).join("\n");
}

async function fileState(file: string): Promise<FileState> {
  try {
    const { ctimeMs, mtimeMs, size, dev, ino } = await stat(file);
    // A link to another file changes no time of that file.
    return { text: `${dev} ${ino} ${ctimeMs} ${mtimeMs} ${size}`, changedAt: ctimeMs };
  } catch {
    return { text: "missing", changedAt: 0 };
  }
}
