import { expect, test } from "vitest";
import { type KeyStateName, keyEnds, keyStates, keyStateTable } from "../../src/rules/api-key.js";
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

test.each(Object.values(keyEnds))("%s of a key without a state ends the key, or is a problem", (end) => {
  const keys = { key: { environment: "test", [end]: at(-day) } } as const;
  const states: string[] = [];
  const problems = problemsIn(() => {
    states.push(open({ organizations: { bank: { type: "bank", keys } } }).keys.get("key").state);
  });
  expect([...states, ...problems.map(({ field }) => field)]).not.toEqual(["active"]);
});
