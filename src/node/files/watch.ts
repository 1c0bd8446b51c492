import { dirname, normalize } from "node:path";
import { watch as watchPaths } from "chokidar";

/** A watch of files. */
export interface Watching {
  /** Watches these files from now on; resolves once it does. */
  readonly follow: (files: readonly string[]) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The milliseconds without a change after which a burst of changes is over: editors write in several steps. */
export const defaultSettle = 80;

/**
 * Makes a watch of no files yet; it calls `changed` once after a burst of changes to any of its files, and once after it
 * began to follow them.
 *
 * A file that is removed, renamed over or missing stays watched.
 */
export function createWatch(
  changed: () => void,
  failed: (error: unknown) => void,
  settle = defaultSettle,
): Watching {
  let watcher: ReturnType<typeof watchPaths> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(changed, settle);
  };
  return {
    async follow(files) {
      const next = await watchFiles(files, soon, failed);
      await watcher?.close();
      watcher = next;
      // It may have been closed while the new watch began; one that is left open keeps the process alive.
      if (closed) return next.close();
      // A change before the watch began would go unseen.
      soon();
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await watcher?.close();
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
