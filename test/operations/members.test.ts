import { expect, test } from "vitest";
import { createSandbox, type Sandbox, type Scenario } from "../../src/index.js";
import { stateOf } from "../../src/library/sandbox-api.js";
import { operations, performAction } from "../../src/sandbox/operations/operations.js";
import type { SandboxState } from "../../src/sandbox/sandbox-state.js";
import { restartSandbox } from "../../src/sandbox/start-sandbox.js";
import type { StepAction } from "../../src/sandbox/steps.js";
import { inputShapes } from "../../src/scenario/format/inputs.js";
import { scenarioSchema } from "../../src/scenario/format/schema.js";
import { type Fields, fieldsOf, type Shape, shapeAt, shapeOfField } from "../../src/schema/shape.js";
import { membersToCamelCase, membersToSnakeCase } from "../../src/schema/spelling.js";
import { continued, continuedSandbox, savedOf } from "../support/continued.js";
import { at, day, open, testKey } from "./sandbox.js";

// A member that one of the places forgets fails here. The members come from the schema.

const organizationFields = fieldsAt("organizations", "bank");
const keyFields = fieldsAt("organizations", "bank", "keys", "main");

function fieldsAt(...path: string[]): Fields {
  return fieldsOf(shapeAt(scenarioSchema, path) as Shape) as Fields;
}

/** Every value of a choice or a flag; of a text its example, or any. */
function valuesOf(shape: Shape): readonly unknown[] {
  if (shape.kind === "boolean") return [false, true];
  if (shape.kind === "choice") return shape.choices;
  return [shape.kind === "text" ? (shape.example ?? "Any text") : expect.unreachable(shape.kind)];
}

const eachValue = (fields: Fields) =>
  Object.entries(fields)
    .filter(([name]) => name !== "keys")
    .flatMap(([name, field]) => valuesOf(shapeOfField(field)).map((value) => [name, value] as const));

const scenarioWith = (members: object): Scenario => ({
  version: 1,
  clock: { now: at(0), frozen: true },
  organizations: { bank: { type: "bank", ...members } },
});
const opened = (members: object): Sandbox => createSandbox({ scenario: scenarioWith(members) });

const shownIn = ({ organizations, keys }: Sandbox) => [organizations.list(), keys.list()];

test.each(eachValue(organizationFields))(
  "an organization whose %s is %j shows it, and so does a saved state",
  (name, value) => {
    const sandbox = opened({ [name]: value });
    expect(membersToSnakeCase(sandbox.organizations.get("bank"))).toMatchObject({
      [name]: value,
    });
    const shown = shownIn(sandbox);
    expect(shownIn(continued(sandbox))).toEqual(shown);
  },
);

test.each(eachValue(inputShapes.organization_update.fields))(
  "a change of an organization's %s to %j is shown, and is in a saved state",
  (name, value) => {
    const before = valuesOf(shapeOfField(organizationFields[name] as Shape)).find((one) => one !== value);
    const sandbox = opened({ [name]: before });
    const state = stateOf(sandbox);
    sandbox.organizations.update("bank", membersToCamelCase({ [name]: value }) as object);
    const view = sandbox.organizations.get("bank");
    expect(membersToSnakeCase(view)).toMatchObject({ [name]: value });
    const shown = shownIn(sandbox);
    expect(shownIn(continued(sandbox))).toEqual(shown);
    // A step does the same.
    const back = { ref: "bank", [name]: before } as never; // the members come from the schema
    operations.organization(state, back, { isScripted: true });
    expect(membersToSnakeCase(sandbox.organizations.get("bank"))).toMatchObject({
      [name]: before,
    });
  },
);

const secret = `SVC_test_sbx${"0".repeat(29)}`;
const replaced = { state: "retiring", replaced_by: "next" };
/** For each member of a key: what to write, and what is shown. A member with several values has several. */
const keyMembers: Readonly<Record<string, readonly (readonly [written: object, shown: object])[]>> = {
  environment: ["test", "live"].map((environment) => [{ environment }, { environment }] as const),
  name: [[{ name: "Any text" }, { name: "Any text" }]],
  scopes: [[{ scopes: ["consents:write"] }, { scopes: ["consents:write"] }]],
  limits: [[{ limits: { per_minute: 3, per_day: 4 } }, { limits: { perMinute: 3, perDay: 4 } }]],
  usage: [[{ usage: { this_minute: 3, today: 4 } }, { usage: { thisMinute: 3, today: 4 } }]],
  state: [
    [{ state: "active" }, { state: "active" }],
    [{ state: "revoked" }, { state: "revoked", revokedAt: at(0) }],
    [{ state: "expired" }, { state: "expired", expiresAt: at(0) }],
    [{ state: "rotated" }, { state: "rotated", overlapEndsAt: at(0) }],
    [replaced, { state: "retiring", replacedBy: "next" }],
  ],
  expires: [[{ expires: "1d" }, { expiresAt: at(day) }]],
  overlap_ends: [[{ ...replaced, overlap_ends: "1d" }, { overlapEndsAt: at(day) }]],
  legacy: [true, false].map((legacy) => [{ legacy }, { legacy }] as const),
  replaced_by: [[replaced, { replacedBy: "next" }]],
  secret: [[{ secret }, { fingerprint: stateOf(opened({})).platform.sha256(secret).slice(0, 12) }]],
};

test("each member and each state of a key has its values here", () => {
  expect(Object.keys(keyMembers).sort()).toEqual(Object.keys(keyFields).sort());
  const written = (name: string) =>
    keyMembers[name]?.map(([values]) => (values as Record<string, unknown>)[name]);
  for (const [name, field] of Object.entries(keyFields)) {
    const shape = shapeOfField(field);
    if (shape.kind === "choice" || shape.kind === "boolean") {
      expect([name, written(name)?.sort()]).toEqual([name, [...valuesOf(shape)].sort()]);
    }
  }
});

test.each(Object.values(keyMembers).flat())(
  "a key that is written with %j shows %j, and so does a saved state",
  (written, shown) => {
    const next = "replaced_by" in written && { next: { environment: "test" } };
    const sandbox = opened({ keys: { main: { environment: "test", ...written }, ...next } });
    expect(sandbox.keys.get("main")).toMatchObject(shown);
    const views = shownIn(sandbox);
    expect(shownIn(continued(sandbox))).toEqual(views);
  },
);

/** The records of a sandbox, with every member that requests and actions read. */
const recordsIn = (sandbox: Sandbox) => {
  const { keys, organizations } = stateOf(sandbox).registry;
  return {
    keys: Object.fromEntries(Array.from(keys.values(), ({ key }) => [key.ref, key])),
    organizations: Array.from(organizations.values(), ({ organization }) => organization),
  };
};

test("a saved state has each member of each record of keys and organizations", () => {
  const sandbox = open();
  sandbox.keys.create({ ...testKey, ref: "created", expires: "10m", limits: { perMinute: 3 } });
  sandbox.keys.rotate("main", { as: "next", overlap: "5m" });
  sandbox.keys.rotate("insurer-key", { as: "insurer-next" });
  sandbox.keys.revoke("insurer-next");
  sandbox.organizations.update("bank", { liveAccess: "suspended" });
  expect(recordsIn(continued(sandbox))).toEqual(recordsIn(sandbox));
});

const inactive = { ref: "bank", status: "inactive" } as const;
const reset = [{ then: { reset: true } }];

/** A way in which each operation changes the sandbox; `null` for those that change nothing of the scenario. */
const changeBy: Readonly<Record<keyof typeof operations, ((state: SandboxState) => unknown) | null>> = {
  create_key: (state) => operations.create_key(state, testKey),
  rotate: (state) => operations.rotate(state, { key: "main" }),
  revoke: (state) => operations.revoke(state, { key: "main" }),
  expire: (state) => operations.expire(state, { key: "main", expires: "1h" }),
  organization: (state) => operations.organization(state, inactive),
  faults: (state) => operations.faults(state, reset),
  clock: (state) => operations.clock(state, { frozen: false }),
  advance: (state) => operations.advance(state, { by: "1s" }),
  clear_requests: null,
};

test.each(Object.entries(changeBy))(
  "a sandbox is changed by a user after %s, until a reset, and so is a saved one",
  (_name, run) => {
    const state = stateOf(open());
    if (run === null) operations.clear_requests(state);
    else run(state);
    expect(state.isChangedByUser).toBe(run !== null);
    expect(continuedSandbox(savedOf(state)).isChangedByUser).toBe(run !== null);
    restartSandbox(state);
    expect(state.isChangedByUser).toBe(false);
  },
);

test.each<StepAction>([
  { create_key: { ...testKey, ref: "created" } },
  { rotate: { key: "main" } },
  { revoke: { key: "main" } },
  { expire: { key: "main", expires: "1h" } },
  { organization: inactive },
  { faults: reset },
])("no user has changed a sandbox after the step %j", (step) => {
  const state = stateOf(open());
  expect(performAction(state, step).error).toBeNull();
  expect(state.isChangedByUser).toBe(false);
});

test("a rejected change by a user is none", () => {
  const state = stateOf(open());
  const byMember = { actor: "member" } as const;
  expect(() => operations.revoke(state, { key: "main" }, byMember)).toThrow("administrators");
  expect(() => operations.revoke(state, { key: "missing" })).toThrow("Unknown key");
  expect(state.isChangedByUser).toBe(false);
});
