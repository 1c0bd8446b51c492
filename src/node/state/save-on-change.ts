// Node's own: in jsdom the global ones give a number, which has no `unref`, and fake ones would keep us from saving.
import { clearTimeout, setTimeout } from "node:timers";
import type { WorldEvent } from "../../sandbox/events.js";
import type { Runtime } from "../../sandbox/runtime.js";

/** The maximum time that a counted request waits to be saved, in milliseconds: less than a second, with the writing itself. */
const longestUnsaved = 800;

/**
 * Saves after everything that happens in a runtime; answers how to stop that, which saves what is unsaved.
 *
 * An operation is saved before it is acknowledged: when `save` throws, so does the operation. Requests are saved
 * together and soon, since a write for each would cost more than its answer; `onProblem` is called when that fails.
 */
export function saveOnChange(
  runtime: Runtime,
  save: () => void,
  onProblem: (error: unknown) => void,
  longest = longestUnsaved,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let failing = false;

  const saveNow = () => {
    clearTimeout(timer);
    timer = undefined;
    try {
      save();
      failing = false;
    } catch (error) {
      // Tried again until it works: the disk may have room later.
      soon();
      throw error;
    }
  };
  const saveUnasked = () => {
    const failedBefore = failing;
    try {
      saveNow();
    } catch (error) {
      failing = true;
      if (!failedBefore) onProblem(error);
    }
  };
  const soon = () => {
    timer ??= setTimeout(saveUnasked, longest).unref();
  };
  const stop = runtime.subscribe(({ type }: WorldEvent) => {
    if (type === "request") soon();
    else saveNow();
  });
  return () => {
    stop();
    if (timer !== undefined) saveUnasked();
    clearTimeout(timer);
  };
}
