import { computed, effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { notify } from "./call.js";
import { connection } from "./events.js";
import { resource, useResources } from "./resource.js";
import { clock, keyEvents } from "./resources.js";
import type { Shown } from "./responses.js";

// The sandbox's clock keeps running between two readings.
const elapsed = signal(0);
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

export const upcoming = resource<readonly Shown<"Upcoming">[]>("/upcoming", {
  on: [...keyEvents, "record."],
});

/** Keeps `now` and `upcoming` up to date while a component is shown, and notifies listeners when an event of the clock comes. */
export function useUpcoming(): void {
  useNow();
  useResources(upcoming);
  const first = upcoming.data.value?.[0]?.at;
  useEffect(
    () =>
      effect(() => {
        // The sandbox sends no event for it.
        if (first !== undefined && now.value >= Date.parse(first))
          notify([{ type: "time.passed", data: {} }]);
      }),
    [first],
  );
}
