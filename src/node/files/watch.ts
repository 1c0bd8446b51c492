import { statSync } from "node:fs";
import { dirname, normalize } from "node:path";
import { watch as watchPaths } from "chokidar";

/** A watch of files. */
export interface Watching {
  /** Watches these files from now on, if they are others than before; resolves once it does. `readAt` (epoch milliseconds) is when they were last read. */
  readonly follow: (files: readonly string[], readAt?: number) => Promise<void>;
  /** Resolves once the last call of `changed` is over. */
  readonly close: () => Promise<void>;
}

/** The milliseconds without a change after which a burst of changes is over: editors write in several steps. */
const defaultSettle = 80;

/**
 * Makes a watch of no files yet; it calls `changed` once after a burst of changes to any of its files, and once after it
 * began to follow files that have changed since they were read. It waits for one call before the next.
 *
 * A file that is removed, renamed over or missing stays watched.
 */
export function createWatch(
  changed: () => void | Promise<void>,
  failed: (error: unknown) => void,
  settle = defaultSettle,
): Watching {
  let watcher: ReturnType<typeof watchPaths> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let followed = "";
  let closed = false;
  let queue = Promise.resolve();
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      queue = queue.then(changed).catch(failed);
    }, settle);
  };
  return {
    async follow(files, readAt = 0) {
      const names = files.toSorted().join("\n");
      if (names === followed) return;
      followed = names;
      const next = await watchFiles(files, soon, failed);
      await watcher?.close();
      watcher = next;
      // It may have been closed while the new watch began; one that is left open keeps the process alive.
      if (closed) return next.close();
      // A change before the watch began would go unseen.
      if (files.some((file) => (statSync(file, { throwIfNoEntry: false })?.ctimeMs ?? 0) > readAt)) soon();
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await watcher?.close();
      await queue;
    },
  };
}

// The folders are watched, not the files: most editors write another file and rename it, and the watch of a file that
// is renamed over ends with it.
function watchFiles(
  files: readonly string[],
  soon: () => void,
  failed: (error: unknown) => void,
): Promise<ReturnType<typeof watchPaths>> {
  const wanted = new Set(files);
  const folders = new Set(files.map((file) => dirname(file)));
  const watcher = watchPaths([...folders], {
    ignoreInitial: true,
    depth: 0,
    // chokidar asks with forward slashes on every system; our names are the system's own.
    ignored: (path) => !folders.has(normalize(path)) && !wanted.has(normalize(path)),
  });
  watcher.on("all", (_event, path) => {
    if (wanted.has(path)) soon();
  });
  watcher.on("error", failed);
  return new Promise((resolve) => watcher.once("ready", () => resolve(watcher)));
}
