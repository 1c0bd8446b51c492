import { effect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Upcoming } from "./answers.js";
import { now, useNow } from "./now.js";
import { resource, useResources } from "./resource.js";
import { keyEvents, keys } from "./resources.js";

/** The events that the clock brings next, the soonest first. */
export const upcoming = resource<readonly Upcoming[]>("/upcoming", {
  on: [...keyEvents, "consent."],
});

/** Keeps `now` and `upcoming` going for as long as a component is shown, and the keys when something of it comes. */
export function useUpcoming(): void {
  useNow();
  useResources(upcoming);
  const first = upcoming.data.value?.[0]?.at;
  useEffect(
    () =>
      // The end of a key, or of a minute, is no event: it follows from the time.
      effect(() => {
        if (first === undefined || !(now.value >= Date.parse(first))) return;
        upcoming.refresh();
        keys.refresh();
      }),
    [first],
  );
}
