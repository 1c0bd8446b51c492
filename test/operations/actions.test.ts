import { expect, test } from "vitest";
import { summarizeAction } from "../../src/api/story/summarize.js";
import { createSandbox, type Sandbox } from "../../src/index.js";
import { stateOf } from "../../src/library/sandbox-api.js";
import { performAction } from "../../src/sandbox/operations/operations.js";
import type { StepAction } from "../../src/sandbox/steps.js";
import { type ActionName, actionNames } from "../../src/scenario/actions.js";
import { routes } from "../../src/server/control/routes/routes.js";

interface Place {
  readonly route: string;
  readonly member: (sandbox: Sandbox) => unknown;
  readonly step: StepAction;
}

/** Where each action is besides its step: a new one needs a row here. */
const places: Readonly<Record<ActionName, Place>> = {
  create_key: {
    route: "POST /keys",
    member: ({ keys }) => keys.create,
    step: { create_key: { organization: "harvest-bank", environment: "test", name: "CI" } },
  },
  rotate: {
    route: "POST /keys/{ref}/rotate",
    member: ({ keys }) => keys.rotate,
    step: { rotate: { key: "active", as: "next" } },
  },
  revoke: {
    route: "POST /keys/{ref}/revoke",
    member: ({ keys }) => keys.revoke,
    step: { revoke: { key: "active" } },
  },
  expire: {
    route: "POST /keys/{ref}/expire",
    member: ({ keys }) => keys.expire,
    step: { expire: { key: "active", expires: "10m" } },
  },
  organization: {
    route: "PATCH /organizations/{ref}",
    member: ({ organizations }) => organizations.update,
    step: { organization: { ref: "harvest-bank", status: "inactive" } },
  },
  faults: {
    route: "PUT /faults",
    member: ({ faults }) => faults.set,
    step: { faults: [{ then: { reset: true } }] },
  },
};

test.each(actionNames)("the action %s has a route, a member of the library and a text", (name) => {
  const { route, member, step } = places[name];
  expect(routes.map(({ method, path }) => `${method} ${path}`)).toContain(route);
  const sandbox = createSandbox({ scenario: "key-states", frozen: true });
  expect([typeof member(sandbox as Sandbox), name]).toEqual(["function", name]);
  const performed = performAction(stateOf(sandbox), step);
  expect(summarizeAction(step, performed)).toMatch(new RegExp(`^${name}\\b`));
});
