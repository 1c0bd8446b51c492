/** The fingerprints of rejected keys that nobody holds, and when its client first heard of it; the latest so many of them. */
export interface Rejected {
  readonly remember: (fingerprint: string, heardAt: number) => void;
  /** When the client heard of it; `undefined` for one that was not rejected, or is forgotten. */
  readonly heardAt: (fingerprint: string) => number | undefined;
}

const defaultCapacity = 1000;

/** Makes an empty memory of rejected keys; it never holds more than `capacity` of them. */
export function createRejected(capacity: number = defaultCapacity): Rejected {
  const heard = new Map<string, number>();
  return {
    remember(fingerprint, heardAt) {
      const earlier = heard.get(fingerprint);
      // Put behind all others: the one that was not sent for the longest time is forgotten first.
      if (earlier !== undefined) heard.delete(fingerprint);
      else if (heard.size >= capacity) heard.delete(heard.keys().next().value as string);
      heard.set(fingerprint, Math.min(earlier ?? heardAt, heardAt));
    },
    heardAt: (fingerprint) => heard.get(fingerprint),
  };
}
