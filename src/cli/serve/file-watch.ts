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

/** Milliseconds between two checks of the files. */
const pollIntervalMs = 100;

type FilesFound =
  /** The files are as they were read. */
  | "as_read"
  /** They have changed since they were read, and since the check before. */
  | "changing"
  /** They have changed since they were read, but not since the check before. */
  | "changed";

/** Watches files, and has them read again after a change. */
export class FileWatch {
  readonly #readAgain: () => Promise<void>;
  #files: readonly string[] = [];
  #stateAsRead = "";
  #stateAtLastCheck = "";
  readonly #closing = new AbortController();
  /** All checks, from the first files until the watch is closed. */
  #checks: Promise<void> | undefined;

  /** `readAgain` reads the files after a change, and may follow others then; it does not reject. */
  constructor(readAgain: () => Promise<void>) {
    this.#readAgain = readAgain;
  }

  /** The files that are followed. */
  get files(): readonly string[] {
    return this.#files;
  }

  /** Follows files in place of others, and has each of them read. */
  followUnread(files: readonly string[]): void {
    this.#follow(files, unreadState);
  }

  /** Follows files in place of others. Their reading began at `readAt`: a change after that time is not read yet. */
  async followRead(files: readonly string[], readAt: number): Promise<void> {
    const sorted = files.toSorted();
    // The same files were read because of a check, whose state is kept: a change since then is found by the next check.
    if (sorted.join("\n") === this.#files.join("\n")) return;
    this.#follow(sorted, await stateReadAt(sorted, readAt));
  }

  #follow(files: readonly string[], stateAsRead: string): void {
    this.#files = files.toSorted();
    this.#stateAsRead = stateAsRead;
    this.#checks ??= this.#checkUntilClosed();
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
      if (finding === "changed" && !signal.aborted) {
        this.#stateAsRead = state;
        await this.#readAgain();
      }
      // An abort rejects, which also ends the pause.
      await sleep(pollIntervalMs, undefined, { signal }).catch(() => {});
    }
  }

  #compare(state: string): FilesFound {
    if (state === this.#stateAsRead) return "as_read";
    return state === this.#stateAtLastCheck ? "changed" : "changing";
  }
}

/** A state that no file has. */
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
async function stateReadAt(files: readonly string[], readAt: number): Promise<string> {
  const states = await Promise.all(files.map(fileState));
  return states.map(({ text, changedAt }) => (changedAt > readAt ? unreadState : text)).join("\n");
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
