import type { Runtime } from "../sandbox/runtime.js";
import { clearInterval, setInterval } from "./platform.js";

const pollInterval = 250;

/**
 * Polls the timeline of a runtime, so that its steps happen when they are due and not only when a request comes; returns how
 * to stop. A defect in the timeline is reported by the next request.
 */
export function pollTimeline(runtime: Runtime): () => void {
  const timer = setInterval(() => {
    try {
      runtime.world();
    } catch {
      // A failure to save is tried again, and reported there.
    }
  }, pollInterval);
  timer.unref();
  return () => clearInterval(timer);
}
