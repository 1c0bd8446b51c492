// What a fault can hit, found by trying every request there can be; it shares nothing with the code under test.

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

/** Who may send a request, and every outcome that it may have in its life. */
interface ModelSender {
  readonly key: string | null;
  readonly organization: string | null;
  readonly outcomes: readonly string[];
}

const ofAll = ["404.unknown_path", "405.method"];
const ofAnyKey = [
  ...["401.revoked", "401.expired", "401.rotated", "403.access_denied", "403.insufficient_scope"],
  ...["429.per_minute", "429.per_day", "200.retiring", "200.empty", "200.full", "204.gone", ...ofAll],
];
const ofLiveKeys = ["403.live_not_approved", "403.live_suspended"];

/** The senders of the scenario below, with the keys that may be created later. */
export const senders: readonly ModelSender[] = [
  { key: null, organization: null, outcomes: ["401.missing", "401.malformed", "401.unknown", ...ofAll] },
  { key: "main", organization: "bank", outcomes: ["200.test", ...ofAnyKey] },
  { key: "live", organization: "bank", outcomes: ["200.live", ...ofLiveKeys, ...ofAnyKey] },
  { key: "legacy", organization: "insurer", outcomes: ["200.legacy", ...ofLiveKeys, ...ofAnyKey] },
  { key: "old", organization: "insurer", outcomes: ["200.test", ...ofAnyKey] },
  { key: "new", organization: "insurer", outcomes: ["200.replacement", ...ofAnyKey] },
  { key: "revoked", organization: "bank", outcomes: ["401.revoked", ...ofAll] },
  { key: "expired", organization: "bank", outcomes: ["401.expired", ...ofAll] },
  { key: "ended", organization: "bank", outcomes: ["401.expired", ...ofAll] },
  { key: "rotated", organization: "insurer", outcomes: ["401.rotated", ...ofAll] },
  {
    key: "limited",
    organization: "bank",
    outcomes: ofAnyKey.filter((outcome) => !outcome.startsWith("20")),
  },
  // The day decides: it may be a key that works.
  { key: "dated", organization: "bank", outcomes: ["200.test", ...ofAnyKey] },
  ...["bank", "insurer"].map((organization) => ({
    key: "created later",
    organization,
    outcomes: ["200.test", "200.live", "200.replacement", ...ofLiveKeys, ...ofAnyKey],
  })),
];

/** The part of a scenario that these senders are of. */
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

const withoutBody = ["200.empty", "204.gone"];

/** Whether a fault has an effect on one of all requests, the last of which comes after twenty minutes. */
export function canApply({ when, then }: ModelFault): boolean {
  const { key, organization, outcome, every = 1, requests, after = 0, until = 99 } = when;
  const breaksOnly = Object.keys(then).every((effect) => effect === "truncate" || effect === "malformed");
  const isMatching = senders.some((sender) =>
    sender.outcomes.some(
      (own) =>
        (key === undefined || key === sender.key) &&
        (organization === undefined || organization === sender.organization) &&
        (outcome === undefined || outcome === own) &&
        !(breaksOnly && withoutBody.includes(own)),
    ),
  );
  const minutes = Array.from({ length: 20 }, (_, minute) => minute);
  const counts = Array.from({ length: 60 }, (_, index) => index + 1);
  return (
    isMatching &&
    minutes.some((minute) => minute >= after && minute < until) &&
    counts.some((count) => count % every === 0 && (requests === undefined || requests.includes(count)))
  );
}

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
