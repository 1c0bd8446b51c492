import { computed, signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { call, listen } from "./call.js";
import { resource, useResources } from "./resource.js";
import type { Shown } from "./responses.js";

/** The journal has the same maximum. */
const max = 1000;

/** The requests since the last reading of the journal. */
const arrived = signal<readonly Shown<"Request">[]>([]);

const journal = resource<readonly Shown<"Request">[]>("/requests", {
  on: ["requests.", "sandbox."],
  async read(path) {
    const last = arrived.peek().at(-1);
    const all = await call<readonly Shown<"Request">[]>(path);
    arrived.value = arrived.peek().slice(arrived.peek().indexOf(last as Shown<"Request">) + 1);
    return all;
  },
});

/** The requests that the page knows, oldest first. */
export const requests = computed(() => {
  const read = journal.data.value ?? [];
  // The event of a request may come before or after a reading that contains it.
  const known = new Set(read.map(({ id }) => id));
  return [...read, ...arrived.value.filter(({ id }) => !known.has(id))].slice(-max);
});

/** Keeps `requests` up to date while its only view is shown. */
export function useRequests(): void {
  useResources(journal);
  useLayoutEffect(
    () =>
      listen((events) => {
        const more = events.flatMap(({ type, data }) => (type === "request" ? [data] : []));
        if (more.length > 0) arrived.value = [...arrived.peek(), ...more].slice(-max);
      }),
    [],
  );
}
