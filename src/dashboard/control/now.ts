import { computed, signal } from "@preact/signals";
import { useResources } from "./resource.js";
import { clock } from "./resources.js";
import { connection } from "./revision.js";

/** The time of the page in milliseconds, updated every second while the sandbox responds. */
export const elapsed = signal(0);
const readAt = computed(() => (clock.data.value === undefined ? 0 : performance.now()));

/** The time of the sandbox's clock, in epoch milliseconds; updated every second. */
export const now = computed(() => {
  const read = clock.data.value;
  if (read === undefined) return Number.NaN;
  const start = Date.parse(read.now);
  return read.frozen ? start : start + Math.max(0, elapsed.value - readAt.value);
});

setInterval(() => {
  // The time of a sandbox that does not respond is unknown.
  if (connection.peek() === "open") elapsed.value = performance.now();
}, 1000);

/** Keeps `now` up to date while a component is shown. */
export const useNow = () => useResources(clock);
