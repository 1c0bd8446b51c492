// Node's own: in jsdom the global one gives a number, which has no `unref`, and fake ones would stop the time.
import { clearInterval, setInterval } from "node:timers";
import type { Runtime } from "../sandbox/runtime.js";

const howOften = 250;

/**
 * Lets what the timeline of a runtime says happen when its time comes, and not only when somebody next looks; answers how
 * to stop that. A defect in it is told to whoever looks next.
 */
export function keepTime(runtime: Runtime): () => void {
  const timer = setInterval(() => {
    try {
      runtime.world();
    } catch {
      // What could not be saved is tried again and reported by who saves it.
    }
  }, howOften);
  timer.unref();
  return () => clearInterval(timer);
}
