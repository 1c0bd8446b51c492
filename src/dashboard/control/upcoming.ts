import { effect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Upcoming } from "./answers.js";
import { notifyOfTime } from "./events.js";
import { now, useNow } from "./now.js";
import { resource, useResources } from "./resource.js";
import { keyEvents } from "./resources.js";

/** The next events of the clock, the earliest first. */
export const upcoming = resource<readonly Upcoming[]>("/upcoming", {
  on: [...keyEvents, "consent."],
});

/** Keeps `now` and `upcoming` up to date while a component is shown, and notifies listeners when an event of the clock comes. */
export function useUpcoming(): void {
  useNow();
  useResources(upcoming);
  const first = upcoming.data.value?.[0]?.at;
  useEffect(
    () =>
      effect(() => {
        if (first !== undefined && now.value >= Date.parse(first)) notifyOfTime();
      }),
    [first],
  );
}
