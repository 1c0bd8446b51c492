import type { World } from "../world.js";

/** Forgets the requests of the journal; the keys keep what they have used. */
export function clearRequests({ journal, events }: World): void {
  journal.clear();
  events.announce({ type: "requests.cleared" });
}
