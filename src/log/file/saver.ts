// Node's own: in jsdom the global ones give a number, which has no `unref`, and fake ones would keep us from saving.
import { clearTimeout, nodePlatform, setTimeout } from "../../node/platform.js";

/** Milliseconds after which what happened is saved, unless saving takes long. */
const longest = 100;

/** The time until the next save, as a multiple of what the last one took: clients hardly notice that it is on. */
const rest = 50;

const realTime = { stopwatch: nodePlatform.stopwatch, setTimeout, clearTimeout };

/**
 * Makes a saver, which saves immediately or together with what happens soon. `onProblem` is called when a save fails that
 * no caller waits for, unless the one before failed as well.
 */
export function createSaver(
  save: () => void,
  onProblem: (error: unknown) => void,
  { stopwatch, setTimeout, clearTimeout } = realTime,
) {
  let timer: NodeJS.Timeout | undefined;
  let nextAt = 0;
  let isFailing = false;
  let isStopped = false;

  const soon = () => {
    if (isStopped) return;
    timer ??= setTimeout(saveUnasked, Math.max(longest, nextAt - stopwatch())).unref();
  };
  const clear = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const now = () => {
    if (isStopped) return;
    clear();
    const started = stopwatch();
    try {
      save();
      isFailing = false;
    } catch (error) {
      isFailing = true;
      // Tried again until it works: the disk may have room later.
      soon();
      throw error;
    } finally {
      const ended = stopwatch();
      nextAt = ended + rest * (ended - started);
    }
  };
  const saveUnasked = () => {
    const hasFailed = isFailing;
    try {
      now();
    } catch (error) {
      if (!hasFailed) onProblem(error);
    }
  };
  return {
    /** Saves; throws what `save` throws, and tries again later then. */
    now,
    soon,
    /** Whether something is not saved yet. */
    isDue: () => timer !== undefined,
    /** Saves nothing any more; returns whether something is unsaved. */
    stop(): boolean {
      isStopped = true;
      const isUnsaved = timer !== undefined;
      clear();
      return isUnsaved;
    },
  };
}
