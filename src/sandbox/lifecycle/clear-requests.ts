import type { World } from "../world.js";

/** Forgets the requests of the journal, and lets the report start anew; the keys keep what they have used. */
export function clearRequests({ journal, counters, events }: World): void {
  journal.clear();
  counters.clear();
  events.announce({ type: "requests.cleared" });
}
