import { stat } from "node:fs/promises";

/** A watch of files. */
export interface Watching {
  /** Watches these files from now on, if they are others than before; `readAt` (epoch milliseconds) is when they were last read. */
  readonly follow: (files: readonly string[], readAt?: number) => Promise<void>;
  /** Resolves once the last call of `changed` is over. */
  readonly close: () => Promise<void>;
}

/** Milliseconds between two looks at the files; a burst of changes is over when both see the same. */
const pause = 100;

/**
 * Makes a watch of no files yet; it calls `changed` once after a burst of changes to any of its files, and once after it
 * began to follow files that have changed since they were read. It waits for one call before the next.
 *
 * The files are polled, which works on network drives and container volumes, and with files and folders that are removed or
 * replaced.
 */
export function createWatch(changed: () => Promise<void>): Watching {
  let followed: readonly string[] = [];
  let handled = "";
  let latest = "";
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  const look = async () => {
    const now = await stateOf(followed);
    const isSettled = now === latest;
    latest = now;
    if (isSettled && now !== handled && !isClosed) {
      handled = now;
      await changed();
    }
    if (!isClosed) timer = setTimeout(() => (looking = look()), pause);
  };
  return {
    async follow(files, readAt = 0) {
      const names = files.toSorted();
      if (names.join("\n") === followed.join("\n")) return;
      followed = names;
      handled = await stateOf(names, readAt);
      if (!isClosed) looking ??= look();
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await looking;
    },
  };
}

/** Returns another text after any change of the files, and for each one that was changed after `readAt`. */
async function stateOf(files: readonly string[], readAt = Number.POSITIVE_INFINITY): Promise<string> {
  const states = files.map(async (file) => {
    try {
      const { ctimeMs, mtimeMs, size } = await stat(file);
      return ctimeMs > readAt ? "changed" : `${ctimeMs} ${mtimeMs} ${size}`;
    } catch {
      return "missing";
    }
  });
  return (await Promise.all(states)).join("\n");
}
