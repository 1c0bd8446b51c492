import { stat } from "node:fs/promises";

/** Milliseconds between checks of the files; a burst of changes ends when two checks find the same state. */
const pollIntervalMs = 100;

/** Polls the files, which also works on network drives and container volumes, and for files that are removed or replaced. */
export function createWatch(changed: () => Promise<void>) {
  let followed: readonly string[] = [];
  let handled = "";
  let latest = "";
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  const look = async () => {
    const now = await versionOf(followed);
    const isUnchanged = now === latest;
    latest = now;
    if (isUnchanged && now !== handled && !isClosed) {
      handled = now;
      await changed();
    }
    if (!isClosed) timer = setTimeout(() => (looking = look()), pollIntervalMs);
  };
  return {
    async follow(files: readonly string[], readAt = 0): Promise<void> {
      const names = files.toSorted();
      if (names.join("\n") === followed.join("\n")) return;
      followed = names;
      handled = await versionOf(names, readAt);
      if (!isClosed) looking ??= look();
    },
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      await looking;
    },
  };
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
