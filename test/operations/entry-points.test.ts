import { expect, test } from "vitest";
import { createSandbox, type Sandbox, type Scenario } from "../../src/index.js";
import { stateOf } from "../../src/library/sandbox-api.js";
import type { ActionName } from "../../src/scenario/actions.js";
import { serveControl } from "../control/client.js";
import { savedOf } from "../support/continued.js";
import { open, scenario, testKey } from "./sandbox.js";

// A step of a scenario, HTTP and the library lead to the same sandbox, or to the same rejection.

type Step = NonNullable<Scenario["story"]>[number];

interface Case {
  readonly step: Step;
  readonly http: readonly [call: string, body?: object, actor?: string];
  /** `null` if the library does not have it: then a step and HTTP agree. */
  readonly library: ((sandbox: Sandbox) => unknown) | null;
  /** The code of the error. Default: none. */
  readonly rejected?: string;
}

const fault = { when: { every: 2 }, then: { status: 503 } } as const;
const member = { actor: "member" } as const;

/** A row for each action. */
const actionCases: Readonly<Record<ActionName, Case>> = {
  create_key: {
    step: { create_key: { ...testKey, ref: "made", limits: { per_minute: 5 }, expires: "10m" } },
    http: ["POST /keys", { ...testKey, ref: "made", limits: { per_minute: 5 }, expires: "10m" }],
    library: ({ keys }) => keys.create({ ...testKey, ref: "made", limits: { perMinute: 5 }, expires: "10m" }),
  },
  rotate: {
    step: { rotate: { key: "main", as: "next", overlap: "66s" } },
    http: ["POST /keys/main/rotate", { as: "next", overlap: "66s" }],
    library: ({ keys }) => keys.rotate("main", { as: "next", overlap: "66s" }),
  },
  revoke: {
    step: { revoke: { key: "main" } },
    http: ["POST /keys/main/revoke"],
    library: ({ keys }) => keys.revoke("main"),
  },
  expire: {
    step: { expire: { key: "main", expires: "10m" } },
    http: ["POST /keys/main/expire", { expires: "10m" }],
    library: ({ keys }) => keys.expire("main", { expires: "10m" }),
  },
  organization: {
    step: { organization: { ref: "bank", status: "inactive", live_access: "suspended" } },
    http: ["PATCH /organizations/bank", { status: "inactive", live_access: "suspended" }],
    library: ({ organizations }) =>
      organizations.update("bank", { status: "inactive", liveAccess: "suspended" }),
  },
  faults: {
    step: { faults: [fault] },
    http: ["PUT /faults", { faults: [fault] }],
    library: ({ faults }) => faults.set([fault]),
  },
};

const otherCases: Readonly<Record<string, Case>> = {
  "the clock advances": {
    step: { advance: "61m" },
    http: ["POST /clock/advance", { by: "61m" }],
    library: ({ clock }) => clock.advance("61m"),
  },
  "R42 a key is not active": {
    step: { revoke: { key: "revoked" } },
    http: ["POST /keys/revoked/revoke"],
    library: ({ keys }) => keys.revoke("revoked"),
    rejected: "key_not_active",
  },
  "R42 a key that has ended gets no other end": {
    step: { expire: { key: "revoked", expires: "1d" } },
    http: ["POST /keys/revoked/expire", { expires: "1d" }],
    library: ({ keys }) => keys.expire("revoked", { expires: "1d" }),
    rejected: "key_not_active",
  },
  "R39 an overlap is too long": {
    step: { rotate: { key: "main", overlap: "8d" } },
    http: ["POST /keys/main/rotate", { overlap: "8d" }],
    library: ({ keys }) => keys.rotate("main", { overlap: "8d" }),
    rejected: "overlap_out_of_range",
  },
  "R33 a member acts": {
    step: { revoke: { key: "main", ...member } },
    http: ["POST /keys/main/revoke", {}, "member"],
    library: ({ keys }) => keys.revoke("main", member),
    rejected: "not_an_administrator",
  },
};

test("an overlap is a duration everywhere, and a number of minutes gets the fields that there are", async () => {
  const words = /unknown field "overlap_?[mM]inutes".*known fields here: overlap and as/;
  const { ask, server } = await serveControl({ scenario });
  const sent = await ask("/keys/main/rotate", { method: "POST", json: { overlap_minutes: 30 } });
  expect([sent.status, sent.body.error.message]).toEqual([422, expect.stringMatching(words)]);
  const { rotate } = server.sandbox.keys;
  for (const overlap of [{ overlap_minutes: 30 }, { overlapMinutes: 30 }]) {
    expect(() => rotate("main", overlap as object)).toThrow(words);
  }
  const timeline = [{ at: "1h", rotate: { key: "main", overlap_minutes: 30 } }];
  const problems = [expect.objectContaining({ hint: "known fields here: key, as, overlap and actor" })];
  expect(() => createSandbox({ scenario: { ...scenario, timeline } as never })).toThrow(
    expect.objectContaining({ problems }),
  );
  expect(server.sandbox.keys.get("main").state).toBe("active");
});

/** The sandbox after an operation: new keys have random secrets, except those of steps. */
function sandboxOf(sandbox: Sandbox): unknown {
  const { clock, organizations, faults, keys } = savedOf(stateOf(sandbox));
  const state = { clock, organizations, faults, keys };
  return JSON.parse(JSON.stringify(state).replace(/"sha256":"\w+"/g, '"sha256":"…"'));
}

const titled = Object.entries(actionCases).map(([name, one]) => [`the action ${name}`, one] as const);

test.each([...titled, ...Object.entries(otherCases)])(
  "%s: a step, HTTP and the library agree",
  async (_title, one) => {
    const { rejected: code = null, library } = one;
    const served = await serveControl({ scenario });
    const [call, json = {}, actor = "administrator"] = one.http;
    const [method, path] = call.split(" ") as [string, string];
    const response = await served.ask(path, { method, json, headers: { "x-sandbox-actor": actor } });
    expect(response.body.error?.code ?? null).toBe(code);
    const expected = sandboxOf(served.server.sandbox);

    // A story that does not end as it says cannot be started, so it says what it expects.
    const step = code === null ? one.step : ({ ...one.step, expect: { error: code } } as Step);
    const told = await serveControl({ scenario: { ...scenario, story: [step] } as Scenario });
    const { body } = await told.ask("/story/next", { method: "POST" });
    expect(body.data.step.performed?.error?.code ?? null).toBe(code);
    expect(sandboxOf(told.server.sandbox)).toEqual(expected);

    if (library === null) return;
    const direct = open();
    let thrown: unknown = null;
    try {
      library(direct);
    } catch (error) {
      thrown = (error as { code: string }).code;
    }
    expect(thrown).toBe(code);
    expect(sandboxOf(direct)).toEqual(expected);
  },
);
