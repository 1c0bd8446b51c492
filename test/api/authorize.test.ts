import { expect, test } from "vitest";
import { type AuthorizationFacts, authorizationChecks, authorize } from "../../src/api/authorize.js";
import type { KeyRecord } from "../../src/rules/key-state.js";
import { keyStateTable } from "../../src/rules/key-state.js";
import type { Organization } from "../../src/rules/organization.js";
import { type OutcomeId, outcomes } from "../../src/rules/outcomes.js";

const key: KeyRecord = {
  ref: "key",
  organization: "bank",
  name: "Key",
  environment: "live",
  legacy: false,
  scopes: ["attestations:read"],
  limits: { perMinute: 60, perDay: 1000 },
  sha256: "",
};
const organization: Organization = {
  ref: "bank",
  id: "",
  name: "Bank",
  type: "bank",
  status: "active",
  sandboxAccess: true,
  liveAccess: "approved",
};
const good: AuthorizationFacts = {
  presented: "well_formed",
  key,
  organization,
  now: 1000,
  scope: "attestations:read",
  addedScopes: [],
  limits: {
    minute: { quota: 60, used: 0, resetsAt: 60_000 },
    day: { quota: 1000, used: 0, resetsAt: 60_000 },
  },
};

/** A deviation from a good request by its outcome, and how it changes the facts. */
type Deviation = [OutcomeId, (facts: AuthorizationFacts) => AuthorizationFacts];
const used =
  (name: "minute" | "day", count: number) =>
  (facts: AuthorizationFacts): AuthorizationFacts => {
    const limits = facts.limits as NonNullable<AuthorizationFacts["limits"]>;
    return { ...facts, limits: { ...limits, [name]: { ...limits[name], used: count } } };
  };

/** In the order in which the request checks must notice them. */
const deviations: readonly Deviation[] = [
  ["401.missing", (facts) => ({ ...facts, presented: "missing", key: undefined })],
  ["401.malformed", (facts) => ({ ...facts, presented: "malformed", key: undefined })],
  ["401.unknown", (facts) => ({ ...facts, key: undefined })],
  ...Object.values(keyStateTable).flatMap(({ rejection, endField }): Deviation[] =>
    rejection === null
      ? []
      : [[rejection, (facts) => ({ ...facts, key: { ...(facts.key ?? key), [endField]: 0 } })]],
  ),
  [
    "403.access_denied",
    (facts) => ({ ...facts, organization: { ...organization, ...facts.organization, status: "inactive" } }),
  ],
  [
    "403.live_suspended",
    (f) => ({ ...f, organization: { ...organization, ...f.organization, liveAccess: "suspended" } }),
  ],
  ["403.insufficient_scope", (facts) => ({ ...facts, scope: "another:scope" })],
  ["429.per_minute", used("minute", 60)],
  ["429.per_day", used("day", 1000)],
];

test.each(deviations)("the deviation %s gives a request its own outcome", (outcome, change) => {
  expect(authorize(change(good))).toBe(outcome);
});

const pairs = deviations.flatMap(([outcome, change], index) =>
  deviations
    .slice(index + 1)
    .map(([later, other]) => [outcome, later, (facts: typeof good) => change(other(facts))] as const),
);
test.each(pairs)("of %s and %s the first is noticed", (first, _second, both) => {
  expect(authorize(both(good))).toBe(first);
});

test.each<[OutcomeId, perMinute: number, perDay: number, dayEndsLast: boolean]>([
  ["429.per_minute", 0, 5, true],
  ["429.per_day", 5, 0, false],
  ["429.per_day", 5, 5, true],
  ["429.per_minute", 5, 5, false],
  ["429.per_day", 0, 0, true],
  ["429.per_minute", 0, 0, false],
])(
  "R22 R23 with both limits reached, %s: %i a minute, %i a day",
  (outcome, perMinute, perDay, dayEndsLast) => {
    const day = { quota: perDay, used: 5, resetsAt: dayEndsLast ? 2 : 1 };
    const limits = { minute: { quota: perMinute, used: 5, resetsAt: 1 }, day };
    expect(authorize({ ...good, limits })).toBe(outcome);
  },
);

test("R19 a check rejects with each of its own outcomes", () => {
  const neverApproved = { ...good, organization: { ...organization, liveAccess: "not_approved" as const } };
  const all = [...deviations.map(([, change]) => change(good)), neverApproved];
  for (const { name, exits, reject } of authorizationChecks) {
    const own = all.map(reject).filter((outcome) => outcome !== undefined && exits.includes(outcome));
    expect([name, [...new Set(own)].sort()]).toEqual([name, [...exits].sort()]);
  }
});

test("R14 a check that rejects with 403 tells its cause, and no other one does", () => {
  for (const { name, exits, explain: tell } of authorizationChecks) {
    const statuses = new Set(exits.map((outcome) => outcome.slice(0, 3)));
    expect([name, ...statuses, tell !== undefined]).toEqual([
      name,
      exits[0]?.slice(0, 3),
      statuses.has("403"),
    ]);
  }
});

test.each<[OutcomeId, Partial<KeyRecord>]>([
  ["200.live", {}],
  ["200.test", { environment: "test" }],
  ["200.legacy", { environment: "test", legacy: true }],
  ["200.replacement", { replaces: "old" }],
  ["200.retiring", { replaces: "older", legacy: true, overlapEndsAt: 2000 }],
])("a success is told apart as %s", (outcome, given) => {
  expect(authorize({ ...good, key: { ...key, ...given } })).toBe(outcome);
});

test("R14 R28 promised outcomes of one status and code have one message", () => {
  const messages = new Map<string, Set<string | null>>();
  for (const { status, code, message } of outcomes.filter(({ promised }) => promised)) {
    const of = `${status} ${code}`;
    messages.set(of, (messages.get(of) ?? new Set()).add(message));
  }
  for (const [of, told] of messages) expect([of, told.size]).toEqual([of, 1]);
});
