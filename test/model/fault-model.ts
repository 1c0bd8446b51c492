// Which fault a request may get, found by trying each way in which chance may decide; it shares nothing with the code under test.

export interface ModelFault {
  readonly when: {
    readonly key?: string;
    readonly organization?: string;
    readonly outcome?: string;
    readonly every?: number;
    readonly requests?: readonly number[];
    readonly probability?: number;
    /** Minutes after the start. */
    readonly after?: number;
    readonly until?: number;
  };
  readonly then: Readonly<Record<string, unknown>>;
}

/** Keys of each kind, and endpoints with a body and without one. */
export const scenarioOfSenders = {
  version: 1,
  clock: { now: "2026-03-02T09:00:00Z", frozen: true },
  organizations: {
    bank: {
      type: "bank",
      keys: {
        main: { environment: "test" },
        live: { environment: "live" },
        revoked: { environment: "live", state: "revoked", expires: "2020-01-01T00:00:00Z" },
        expired: { environment: "test", state: "expired" },
        ended: { environment: "test", expires: "-1d" },
        limited: { environment: "test", limits: { per_minute: 0, per_day: 0 } },
        dated: { environment: "test", expires: "2020-01-01T00:00:00Z" },
      },
    },
    insurer: {
      type: "insurer",
      live_access: "approved",
      keys: {
        legacy: { environment: "live", legacy: true },
        old: { environment: "test", state: "retiring", replaced_by: "new" },
        new: { environment: "test" },
        rotated: { environment: "test", state: "rotated" },
      },
    },
  },
  endpoints: {
    empty: { path: "/empty" },
    full: { path: "/full", body: {} },
    gone: { method: "DELETE", path: "/gone", status: 204 },
  },
} as const;

/** Every fault that the next request may get, by each way in which chance may decide; `null` is none. */
export function mayGet(
  faults: readonly ModelFault[],
  matches: readonly boolean[],
  counts: readonly number[],
): Set<number | null> {
  const results = new Set<number | null>();
  for (let draw = 0; draw < 2 ** faults.length; draw++) {
    const possible = faults.every(({ when: { probability = 1 } }, index) =>
      isLucky(draw, index) ? probability > 0 : probability < 1,
    );
    if (!possible) continue;
    const first = faults.findIndex(({ when: { every = 1, requests } }, index) => {
      const count = (counts[index] ?? 0) + 1;
      const isCounted = count % every === 0 && (requests?.includes(count) ?? true);
      return matches[index] && isCounted && isLucky(draw, index);
    });
    results.add(first === -1 ? null : first);
  }
  return results;
}

/** Whether chance decides for the fault with this index, in one of all draws. */
function isLucky(draw: number, index: number): boolean {
  return Math.floor(draw / 2 ** index) % 2 === 1;
}
