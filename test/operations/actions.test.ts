import { expect, test } from "vitest";
import { narrateAction, summarizeAction } from "../../src/api/story/narrate.js";
import { createSandbox, type Sandbox } from "../../src/index.js";
import { stateOf } from "../../src/library/sandbox-api.js";
import { operations, performAction } from "../../src/sandbox/operations/operations.js";
import type { StepAction } from "../../src/sandbox/steps.js";
import { type ActionName, actionNames } from "../../src/scenario/actions.js";
import { routes } from "../../src/server/control/routes/routes.js";

interface Place {
  readonly route: string;
  /** `null` for assumptions: a test suite creates another sandbox. */
  readonly member: ((sandbox: Sandbox) => unknown) | null;
  readonly step: StepAction;
  readonly sentence: string;
}

/** Where each action is besides its step: a new one needs a row here. */
const places: Readonly<Record<ActionName, Place>> = {
  create_key: {
    route: "POST /keys",
    member: ({ keys }) => keys.create,
    step: { create_key: { organization: "harvest-bank", environment: "test", name: "CI" } },
    sentence: 'An administrator creates the test key ci for harvest-bank ("CI").',
  },
  rotate: {
    route: "POST /keys/{ref}/rotate",
    member: ({ keys }) => keys.rotate,
    step: { rotate: { key: "active", as: "next" } },
    sentence:
      "An administrator rotates the key active. The new key is next; the old one works for 60 more minutes.",
  },
  revoke: {
    route: "POST /keys/{ref}/revoke",
    member: ({ keys }) => keys.revoke,
    step: { revoke: { key: "active" } },
    sentence: "An administrator revokes the key active.",
  },
  expire: {
    route: "POST /keys/{ref}/expire",
    member: ({ keys }) => keys.expire,
    step: { expire: { key: "active", expires: "10m" } },
    sentence: "An administrator sets the end of the key active: 10m.",
  },
  organization: {
    route: "PATCH /organizations/{ref}",
    member: ({ organizations }) => organizations.update,
    step: { organization: { ref: "harvest-bank", status: "inactive" } },
    sentence: "An administrator sets the status to inactive for harvest-bank.",
  },
  faults: {
    route: "PUT /faults",
    member: ({ faults }) => faults.set,
    step: { faults: [{ then: { reset: true } }] },
    sentence: "Requests can now hit faults: reset.",
  },
  assumptions: {
    route: "PUT /assumptions",
    member: null,
    step: { assumptions: { retry_after: "seconds" } },
    sentence: "The service changes its responses: retry_after seconds.",
  },
};

test.each(actionNames)("the action %s has a route, a member of the library and a text", (name) => {
  const { route, member, step, sentence } = places[name];
  expect(routes.map(({ method, path }) => `${method} ${path}`)).toContain(route);
  const sandbox = createSandbox({ scenario: "key-states", frozen: true });
  expect([typeof member?.(sandbox as Sandbox), name]).toEqual([member ? "function" : "undefined", name]);
  const performed = performAction(stateOf(sandbox), step);
  expect(narrateAction(step, performed)).toBe(sentence);
  expect(summarizeAction(step, performed)).toMatch(new RegExp(`^${name}\\b`));
});

test("the result of a step that changes the assumptions has the members of every other action", () => {
  const state = stateOf(createSandbox());
  const performed = performAction(state, { assumptions: { www_authenticate: true } });
  expect(state.assumptions.www_authenticate).toBe(true);
  expect(performed).toEqual({ error: null, key: null, replacement: null, secret: null, organization: null });
});

test("the error of a listener is not the rejection of the step whose event it hears", () => {
  const state = stateOf(createSandbox({ scenario: "key-states" }));
  const revoke = { revoke: { key: "active" } } as const;
  const unsubscribe = state.journal.subscribe(({ type }) => {
    if (type === "key.revoked") performAgain();
  });
  // Revokes the key that is revoked already, as a user does.
  const performAgain = () => operations.revoke(state, revoke.revoke);
  expect(() => performAction(state, revoke)).toThrow(expect.objectContaining({ code: "key_not_active" }));
  unsubscribe();
  expect(performAction(state, revoke).error).toMatchObject({ code: "key_not_active" });
});
