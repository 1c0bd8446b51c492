import { existsSync, statSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";
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
 * A file that is removed, renamed over or missing stays watched, and so does one whose folders are removed and come back.
 */
export function createWatch(
  changed: () => void | Promise<void>,
  failed: (error: unknown) => void,
  settle = defaultSettle,
): Watching {
  let watcher: ReturnType<typeof watchPaths> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let followed: readonly string[] = [];
  let watched = "";
  let closed = false;
  let queue = Promise.resolve();
  let beginning = Promise.resolve();
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      queue = queue.then(changed).catch(failed);
    }, settle);
  };
  // A watch ends with its folder: another one begins where the folder was, or above.
  const lookAtFolders = () => {
    if (closed || watched === "" || identityOf(followed) === watched) return;
    watched = "";
    void begin().then(() => closed || soon());
  };
  const begin = () => {
    beginning = beginning.then(async () => {
      const identity = identityOf(followed);
      // Before the new one: watches of one folder share what the system tells of it, which may be an old one.
      await watcher?.close();
      const next = await watchFiles(followed, soon, lookAtFolders, failed);
      watcher = next;
      watched = identity;
      // It may have been closed while the new watch began; one that is left open keeps the process alive.
      if (closed) await next.close();
      else lookAtFolders();
    });
    return beginning;
  };
  return {
    async follow(files, readAt = 0) {
      const names = files.toSorted();
      if (names.join("\n") === followed.join("\n")) return;
      followed = names;
      await begin();
      // A change before the watch began would go unseen.
      const hasChanged = (file: string) => (statSync(file, { throwIfNoEntry: false })?.ctimeMs ?? 0) > readAt;
      if (!closed && followed.some(hasChanged)) soon();
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await watcher?.close();
      await queue;
    },
  };
}

const longestStart = 1000;

/** The folders of the files, or what is there of the way to them. */
function foldersOf(files: readonly string[]): string[] {
  const folders = files.map((file) => {
    let folder = dirname(file);
    while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
    return folder;
  });
  return [...new Set(folders)];
}

/** Returns another text when one of the folders is another one than before; their numbers are used again at once. */
function identityOf(files: readonly string[]): string {
  const identities = foldersOf(files).map((folder) => {
    const found = statSync(folder, { bigint: true, throwIfNoEntry: false });
    return `${folder} ${found?.ino} ${found?.birthtimeNs}`;
  });
  return identities.join("\n");
}

// The folders are watched, not the files: most editors write another file and rename it, and the watch of a file that
// is renamed over ends with it.
function watchFiles(
  files: readonly string[],
  soon: () => void,
  somethingMoved: () => void,
  failed: (error: unknown) => void,
): Promise<ReturnType<typeof watchPaths>> {
  const wanted = new Set(files);
  const watcher = watchPaths(foldersOf(files), {
    ignoreInitial: true,
    depth: 0,
    // chokidar asks with forward slashes on every system; our names are the system's own.
    ignored: (given) => {
      const path = normalize(given);
      return !wanted.has(path) && !files.some((file) => file.startsWith(join(path, sep)));
    },
  });
  watcher.on("all", (_event, path) => {
    if (wanted.has(path)) soon();
  });
  // Of a folder that was removed and made again at once the system tells no more than that something happened.
  watcher.on("raw", somethingMoved);
  watcher.on("error", failed);
  return new Promise((resolve) => {
    const ready = () => resolve(watcher);
    watcher.once("ready", ready);
    // A folder that is removed meanwhile may keep it from ever being ready.
    setTimeout(ready, longestStart).unref();
  });
}
