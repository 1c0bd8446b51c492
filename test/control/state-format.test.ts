import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { runStory } from "../../src/api/story/run-story.js";
import { createSandbox, type Scenario } from "../../src/index.js";
import { sandboxApi, stateOf } from "../../src/library/sandbox-api.js";
import { lastClockInstant } from "../../src/rules/key-state.js";
import { isoTime } from "../../src/rules/time.js";
import { runDue } from "../../src/sandbox/operations/operations.js";
import { RequestIds } from "../../src/sandbox/request-ids.js";
import { afterPause, type SavedSandbox, stateFormat } from "../../src/sandbox/saved-sandbox.js";
import { parseState, stateParts } from "../../src/server/state-file.js";
import { anyScenario, command } from "../model/commands.js";
import { movedTo, played, roundOfRequests, transcript } from "../model/transcript.js";
import { continuedSandbox, savedOf, snapshot } from "../support/continued.js";
import { root } from "../support/pages.js";
import { runs } from "../support/property-seed.js";
import { mePath } from "../support/send.js";

// A Retry-After that is a date follows the clock, whose second must not turn between two responses.
beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterAll(() => void vi.useRealTimers());

const commands = fc.array(command, { minLength: 1, maxLength: 25 });
/** The whole text of a state. */
const stateText = (...args: Parameters<typeof stateParts>) => [...stateParts(...args)].join("");

/** A sandbox that continues a state of a minute ago. */
function restored(saved: SavedSandbox) {
  const sandbox = continuedSandbox(afterPause(saved, 60_000));
  return sandboxApi(() => sandbox);
}

test("the state of any sandbox can be read again and continues exactly like the sandbox", async () => {
  await fc.assert(
    fc.asyncProperty(anyScenario, commands, commands, async (scenario, before, after) => {
      const game = played(createSandbox({ scenario }));
      await transcript(game, before);
      const sandbox = stateOf(game.sandbox);
      runDue(sandbox);
      const own = { name: "model", scenario: sandbox.scenario, text: undefined };
      const saved = savedOf(sandbox);
      const read = parseState(stateText(sandbox, own), own, "state.json").sandbox;
      expect(read).toEqual(saved);
      const continued = movedTo(restored(read), game);
      // The request ids are of the next series.
      const { requestIds } = sandbox;
      sandbox.requestIds = new RequestIds(sandbox.seed, requestIds.series + 1, requestIds.count());
      expect(snapshot(continued.sandbox)).toEqual(snapshot(game.sandbox));
      const following = [...after, ...roundOfRequests];
      expect(await transcript(continued, following)).toEqual(await transcript(game, following));
    }),
    runs(40),
  );
});

test("a moved scenario file gives a saved sandbox its new name; a scenario that was loaded later keeps its own", () => {
  const scenario: Scenario = { version: 1, organizations: { bank: { type: "bank" } } };
  const named = (name: string) => ({ name, scenario, text: undefined });
  for (const [name, expected] of [
    ["old.yaml", "new.yaml"],
    ["rotation", "rotation"],
  ] as const) {
    const sandbox = stateOf(createSandbox({ scenario }));
    sandbox.name = name;
    const text = stateText(sandbox, named("old.yaml"));
    expect(parseState(text, named("new.yaml"), "state.json").sandbox.name).toBe(expected);
  }
});

test("a state near the end of all years continues, and its clock stops there", () => {
  const sandbox = createSandbox({ now: new Date(lastClockInstant - 30_000) });
  expect(restored(savedOf(stateOf(sandbox))).clock.now()).toBe(isoTime(lastClockInstant));
});

/** A scenario has its own version and checks; the members of maps are ids and names. */
const isScenario = /(?:^|\.)(?:scenario|step)$/;
const isMap = /(?:^|\.)(?:outcomes|endpoints|advice|details)$/;

/** Adds the names and types of everything in a state, with `*` for the members of lists and maps. */
function addForm(form: Map<string, Set<string>>, path: string, value: unknown): void {
  const isObject = typeof value === "object" && value !== null;
  const type = Array.isArray(value) ? "list" : value === null ? "null" : typeof value;
  form.set(path, (form.get(path) ?? new Set()).add(type));
  if (!isObject || (isScenario.test(path) && type === "object")) return;
  for (const [name, member] of Object.entries(value)) {
    const shown = Array.isArray(value) || isMap.test(path) ? "*" : name;
    addForm(form, `${path}.${shown}`.replace(/^\./, ""), member);
  }
}

const revoke = { at: "1m", revoke: { key: "late" } } as const;
const rich: Scenario = {
  version: 1,
  clock: { now: "2026-03-02T09:00:00Z", frozen: true },
  organizations: {
    bank: {
      type: "bank",
      keys: { main: { environment: "test" }, old: { environment: "test" }, late: { environment: "test" } },
    },
  },
  timeline: [revoke, revoke],
  story: [
    { request: { key: "main" }, expect: { status: 200 } },
    { rotate: { key: "old", as: "next", overlap: "0s" } },
    { advance: "2m" },
  ],
};

/** A state with something in every member. */
async function wholeText(): Promise<string> {
  const sandbox = createSandbox({ scenario: rich });
  const state = stateOf(sandbox);
  expect([...runStory(state)].at(-1)?.number).toBe(rich.story?.length);
  sandbox.organizations.update("bank", { sandboxAccess: false });
  for (const key of [sandbox.secret("main"), "SVC_test_sbx00000000000000000000000000000", ""]) {
    for (const path of [mePath, mePath, "/v1/nothing", `${mePath}?api_key=${sandbox.secret("main")}`]) {
      await sandbox.fetch(`http://sandbox.test${path}`, { headers: { "x-api-key": key } });
    }
  }
  return stateText(state, { name: "rich", scenario: rich, text: "version: 1" });
}

test("a change of the form of a state raises its number, so that no version reads another one's as damaged", async () => {
  const form = new Map<string, Set<string>>();
  addForm(form, "", JSON.parse(await wholeText()));
  const written = Object.fromEntries(
    [...form].sort().map(([path, types]) => [path, [...types].sort().join(" or ")]),
  );
  const golden = join(root, "test/golden/state-form.json");
  const before = existsSync(golden) ? JSON.parse(readFileSync(golden, "utf8")) : { format: 0 };
  if (before.format !== stateFormat) {
    writeFileSync(golden, `${JSON.stringify({ format: stateFormat, form: written }, null, 2)}\n`);
  } else {
    expect(
      written,
      "The form changed: raise stateFormat in src/sandbox/saved-sandbox.ts, and run this test again",
    ).toEqual(before.form);
  }
});
