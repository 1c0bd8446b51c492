import { expect, test } from "vitest";
import { type KeyEnds, type KeyStateName, keyStates, keyStateTable } from "../../src/rules/key-state.js";
import { type Model, type ModelKey, respond } from "../model/specification-model.js";
import { problemsIn } from "../support/problems-of.js";
import { at, day, expectRejection, open, responses } from "./sandbox.js";

/** A key in this state. */
function opened(state: KeyStateName) {
  const isReplaced = state === "retiring" || state === "rotated";
  const keys = {
    key: { environment: "test", state, ...(isReplaced && { replaced_by: "next" }) },
    next: { environment: "test" },
  } as const;
  return open({ organizations: { bank: { type: "bank", keys } } });
}

test.each(keyStates)("R12 R13 R38 R42 the row of %s is what requests and actions do", async (state) => {
  const { rejection, isOver } = keyStateTable[state];
  const sandbox = opened(state);
  await responses(sandbox, sandbox.secret("key"));
  const [{ outcome } = {}] = sandbox.requests.list();
  expect(outcome?.startsWith("200") ? null : outcome).toBe(rejection);
  const revoke = () => sandbox.keys.revoke("key");
  if (isOver) expectRejection(sandbox, revoke, "key_not_active");
  else expect(revoke().state).toBe("revoked");
});

test.each(keyStates)(
  "a replacement that worked and is %s now causes advice only if it works",
  async (state) => {
    const sandbox = opened("active");
    const { secret } = sandbox.keys.rotate("key", { as: "second" });
    await responses(sandbox, secret);
    const ends: Readonly<Record<KeyStateName, () => unknown>> = {
      active: () => {},
      revoked: () => sandbox.keys.revoke("second"),
      expired: () => sandbox.keys.expire("second", { expires: "0s" }),
      retiring: () => sandbox.keys.rotate("second", { as: "third" }),
      rotated: () => sandbox.keys.rotate("second", { as: "third", overlap: 0 }),
    };
    ends[state]();
    await responses(sandbox, sandbox.secret("key"));
    const [{ advice = [] } = {}] = sandbox.requests.list({ key: "key" });
    const isAdvised = advice.includes("old-key-after-replacement-seen");
    expect([sandbox.keys.get("second").state, isAdvised]).toEqual([
      state,
      keyStateTable[state].rejection === null,
    ]);
  },
);

/** The member of the independent model for each time that ends a key. */
const modelEnds = {
  revokedAt: "revoked",
  expiresAt: "expires",
  overlapEndsAt: "overlapEnds",
} as const satisfies Record<keyof KeyEnds, keyof ModelKey>;

test.each(keyStates)("the independent model responds to a key that is %s as its row says", (state) => {
  const sandbox = opened(state);
  const view = sandbox.keys.get("key");
  const timeOf = (end: keyof KeyEnds) => (view[end] === null ? null : Date.parse(view[end]));
  const ends = Object.entries(modelEnds).map(([end, member]) => [member, timeOf(end as keyof KeyEnds)]);
  const key = { organization: "bank", environment: "test", scopes: view.scopes, counted: [] } as const;
  const model = {
    now: Date.parse(sandbox.clock.now()),
    organizations: { bank: { active: true, live: "not_approved", sandboxAccess: true } },
    keys: { key: { ...key, perMinute: 60, perDay: 1000, ...Object.fromEntries(ends) } },
    endpoints: [],
  } as const satisfies Model;
  const { rejection } = keyStateTable[state];
  const { status } = respond(model, "key", "GET", "/v1/relying-party/me");
  expect(String(status)).toBe((rejection ?? "200").slice(0, 3));
});

test.each(["revoked_at", "expires", "overlap_ends"])(
  "%s of a key without a state ends the key, or is a problem",
  (end) => {
    const keys = { key: { environment: "test", [end]: at(-day) } } as const;
    const states: string[] = [];
    const problems = problemsIn(() => {
      states.push(open({ organizations: { bank: { type: "bank", keys } } }).keys.get("key").state);
    });
    expect([...states, ...problems.map(({ field }) => field)]).not.toEqual(["active"]);
  },
);
