// Node's own timers: jsdom's have no `unref`, and fake timers would prevent saving.
import { clearTimeout, nodePlatform, setTimeout } from "../platform.js";

/** Milliseconds before changes are saved, unless saving takes long. */
const longest = 100;

/** The pause before the next save, as a multiple of the last save's duration, so that clients hardly notice saving. */
const rest = 50;

const realTime = { stopwatch: nodePlatform.stopwatch, setTimeout, clearTimeout };

/**
 * Creates a saver, which saves immediately, or soon and together with later changes. Calls `onProblem` if a save fails that no
 * caller waits for, unless the previous save also failed.
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
      // Retries until it succeeds: the disk may have room later.
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
    /** Saves; throws what `save` throws, and then retries later. */
    now,
    soon,
    isDue: () => timer !== undefined,
    /** Stops saving; returns whether there are unsaved changes. */
    stop(): boolean {
      isStopped = true;
      const isUnsaved = timer !== undefined;
      clear();
      return isUnsaved;
    },
  };
}
