import { stat } from "node:fs/promises";

/** Milliseconds between checks of the files; a burst of changes ends when two checks find the same state. */
const pollIntervalMs = 100;

/** Polls the files, which also works on network drives and container volumes, and for files that are removed or replaced. */
export class FileWatch {
  readonly #changed: () => Promise<void>;
  #files: readonly string[] = [];
  #handled = "";
  #latest = "";
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  constructor(changed: () => Promise<void>) {
    this.#changed = changed;
  }

  async follow(files: readonly string[], readAt = 0): Promise<void> {
    const names = files.toSorted();
    if (names.join("\n") === this.#files.join("\n")) return;
    this.#files = names;
    this.#handled = await versionOf(names, readAt);
    if (!this.#isClosed) this.#looking ??= this.#look();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const now = await versionOf(this.#files);
    const isUnchanged = now === this.#latest;
    this.#latest = now;
    if (isUnchanged && now !== this.#handled && !this.#isClosed) {
      this.#handled = now;
      await this.#changed();
    }
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look();
    }, pollIntervalMs);
  }
}

/** Returns another text after any change to the files, and if one changed after `readAt`. */
async function versionOf(files: readonly string[], readAt = Number.POSITIVE_INFINITY): Promise<string> {
  const states = files.map(async (file) => {
    try {
      const { ctimeMs, mtimeMs, size, dev, ino } = await stat(file);
      // A link to another file changes no time of that file.
      return ctimeMs > readAt ? "changed" : `${dev} ${ino} ${ctimeMs} ${mtimeMs} ${size}`;
    } catch {
      return "missing";
    }
  });
  return (await Promise.all(states)).join("\n");
}
