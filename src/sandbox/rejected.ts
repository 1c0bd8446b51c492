import { type Heard, unheard } from "./conduct-heard.js";

/** The fingerprints of rejected keys that nobody holds, and who has heard of it; the latest so many of them. */
export interface Rejected {
  /** Remembers that it was rejected; answers who has heard of it. */
  readonly remember: (fingerprint: string) => Heard;
  /** Who has heard of it; `undefined` for one that was not rejected, or is forgotten. */
  readonly find: (fingerprint: string) => Heard | undefined;
}

const defaultCapacity = 1000;

/** Makes an empty memory of rejected keys; it never holds more than `capacity` of them. */
export function createRejected(capacity: number = defaultCapacity): Rejected {
  const kept = new Map<string, Heard>();
  return {
    remember(fingerprint) {
      const earlier = kept.get(fingerprint);
      // Put behind all others: the one that was not sent for the longest time is forgotten first.
      if (earlier !== undefined) kept.delete(fingerprint);
      else if (kept.size >= capacity) kept.delete(kept.keys().next().value as string);
      const heard = earlier ?? unheard();
      kept.set(fingerprint, heard);
      return heard;
    },
    find: (fingerprint) => kept.get(fingerprint),
  };
}
