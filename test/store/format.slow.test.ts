import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { storySender } from "../../src/api/story-sender.js";
import { createSandbox, type Scenario } from "../../src/index.js";
import { stateOf } from "../../src/library/create-sandbox.js";
import { nodePlatform } from "../../src/node/platform.js";
import { describeSandbox } from "../../src/sandbox/start.js";
import { runStory } from "../../src/sandbox/story/run-step.js";
import { resolveSource } from "../../src/scenario/parse-scenario.js";
import { instanceState } from "../../src/store/instances.js";
import { createInstances } from "../../src/store/memory-store.js";
import { stateFormat, stateText } from "../../src/store/state-format.js";
import { mePath } from "../support/send.js";

const golden = fileURLToPath(new URL("../golden/state-form.json", import.meta.url));

/** A scenario has its own version and checks; the members of these are ids and names. */
const isScenario = /(?:^|\.)(?:scenario|snapshot|steps)$/;
const isMap = /(?:^|\.)(?:scenarios|paths|endpoints|advice|details)$/;

/** Adds the names and types of everything in a state, with `*` for the members of lists and maps. */
function addForm(form: Map<string, Set<string>>, path: string, value: unknown): void {
  const isObject = typeof value === "object" && value !== null;
  const type = Array.isArray(value) ? "list" : value === null ? "null" : typeof value;
  form.set(path, (form.get(path) ?? new Set()).add(type));
  if (!isObject || (isScenario.test(path) && type === "object")) return;
  for (const [name, member] of Object.entries(value))
    addForm(
      form,
      `${path}.${Array.isArray(value) || isMap.test(path) ? "*" : name}`.replace(/^\./, ""),
      member,
    );
}

const scenario: Scenario = {
  version: 1,
  clock: { now: "2026-03-02T09:00:00Z", frozen: true },
  organizations: {
    bank: {
      type: "bank",
      keys: { main: { environment: "test" }, old: { environment: "test" }, late: { environment: "test" } },
    },
  },
  timeline: [
    { at: "1m", revoke: { key: "late" } },
    { at: "1m", revoke: { key: "late" } },
  ],
  story: [
    { request: { key: "main" }, expect: { status: 200 } },
    { rotate: { key: "old", as: "next", overlap: "0s" } },
    { advance: "2m" },
  ],
};

/** A state with something in every member. */
async function wholeState(): Promise<string> {
  const sandbox = createSandbox({ scenario });
  const own = stateOf(sandbox);
  runStory(own, storySender(own));
  for (const key of [sandbox.secret("main"), "SVC_test_sbx00000000000000000000000000000", ""])
    for (const path of [mePath, mePath, "/v1/nothing", `${mePath}?api_key=${sandbox.secret("main")}`])
      await sandbox.fetch(`http://sandbox.test${path}`, { headers: { "x-api-key": key } });
  const instances = createInstances({ max: 1, server: own, platform: nodePlatform });
  const tenancy = {
    label: "a",
    tokenHash: "b",
    claimHash: "c",
    claimedAt: 1,
    expiresAt: 2,
    requestsPerMinute: 3,
    madeBy: "d",
  };
  const made = instances.create(
    { scenario: resolveSource(scenario).scenario, name: "a", text: "version: 1" },
    { seed: 2 },
    tenancy,
  );
  made.sandbox.first = { name: "b", scenario: resolveSource("active").scenario, text: undefined };
  const startedWith = { name: "rotation", sha256: "0".repeat(64) };
  const states = [instanceState(made, describeSandbox(made.sandbox))];
  return stateText({ startedWith, own: describeSandbox(own), instances: states, without: ["e"] });
}

test("a change of the form of a state raises its number, so that no version reads another one's as damaged", async () => {
  const form = new Map<string, Set<string>>();
  addForm(form, "", JSON.parse(await wholeState()));
  const written = Object.fromEntries(
    [...form].sort().map(([path, types]) => [path, [...types].sort().join(" or ")]),
  );
  const before = existsSync(golden) ? JSON.parse(readFileSync(golden, "utf8")) : { format: 0 };
  if (before.format !== stateFormat)
    writeFileSync(golden, `${JSON.stringify({ format: stateFormat, form: written }, null, 2)}\n`);
  else
    expect(
      written,
      "The form changed: raise stateFormat in src/store/state-format.ts, and run this test again",
    ).toEqual(before.form);
});
