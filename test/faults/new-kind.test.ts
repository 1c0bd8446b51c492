import { expect, test, vi } from "vitest";
import { typeOf } from "../../scripts/scenario-types.js";
import { faultKindTable } from "../../src/rules/fault-effects.js";
import { scenarioSchema } from "../../src/scenario/format/schema.js";
import { compile } from "../support/compile.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// What two more kinds of faults would have: one with a delay, as `latency` has, and one whose name has a hyphen.

vi.mock("../../src/rules/fault-effects.js", async (original) => {
  const effects = await original<typeof import("../../src/rules/fault-effects.js")>();
  const { latency, status, reset } = effects.faultKindTable;
  const more = {
    stall: { ...latency, causeClause: "pauses in the body" },
    refuse: { ...status, causeClause: "refuses with a status" },
    "half-close": { ...reset, causeClause: "closes one half" },
  };
  Object.assign(effects.faultKindTable, more);
  (effects.faultKinds as string[]).push(...Object.keys(more));
  return effects;
});

test("a new kind of fault has its own shape and description, and a name that a compiler reads", async () => {
  expect(faultKindTable).toHaveProperty("stall");
  const type = typeOf(scenarioSchema);
  for (const [field, description] of [
    ["latency", "The delay of the response"],
    ["stall", "Pauses in the body."],
    ["status", "Responds with this status"],
    ["refuse", "Refuses with a status."],
    ['"half-close"', "Closes one half."],
  ] as const) {
    expect(type).toMatch(new RegExp(`/\\*\\* ${description}[^*]*\\*/\\s+${field}\\?:`));
  }
  const folder = temporaryFolder({ "scenario.ts": `export interface Scenario ${type}\n` });
  expect(await compile(folder, { strict: true, skipLibCheck: true, types: [] })).toEqual([]);
});
