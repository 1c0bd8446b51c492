import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { coreSender } from "../../src/api/core-sender.js";
import { evaluateKey } from "../../src/api/foresee.js";
import { loadFarmers } from "../../src/node/load-farmers.js";
import { advanceClock } from "../../src/sandbox/operations/change-world.js";
import { scenarioSecret } from "../../src/sandbox/secrets.js";
import type { ToldStep } from "../../src/sandbox/story/story.js";
import { tellNext } from "../../src/sandbox/story/tell.js";
import { scenarioNames } from "../../src/scenario/bundled.js";
import { levelsOf } from "../../src/scenario/format/inspect.js";
import { scenarioSchema } from "../../src/scenario/format/schema.js";
import { parseScenario } from "../../src/scenario/parse-scenario.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import { starterScenario } from "../../src/scenario/starter.generated.js";
import { openTestWorld } from "../support/doors.js";

await loadFarmers();

const page = readFileSync(join(import.meta.dirname, "../../docs/scenarios.md"), "utf8");
const sections = new Map(page.split(/^##+ /m).map((text) => [text.split("\n", 1)[0] as string, text]));
const examples = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, yaml = ""]) => yaml);
const whole = examples.filter((yaml) => yaml.includes("version: 1"));

const minute = 60_000;

/** The example of a section, as a scenario. */
function exampleOf(section: string): Scenario {
  const [, yaml = ""] = /^```yaml\n([\s\S]*?)^```$/m.exec(sections.get(section) ?? "") ?? [];
  return parseScenario(yaml);
}

async function tell(scenario: Scenario): Promise<ToldStep[]> {
  const world = openTestWorld(scenario);
  const steps: ToldStep[] = [];
  const next = () => tellNext(world, coreSender(world));
  for (let told = await next(); told !== undefined; told = await next()) steps.push(told);
  return steps;
}

const surprises = (steps: readonly ToldStep[]) => steps.flatMap(({ differences }) => differences);

test.each(
  whole.map((yaml) => [yaml.split("\n")[1], yaml]),
)("the example with %s is a scenario", (_line, yaml) => {
  expect(() => parseScenario(yaml as string)).not.toThrow();
});

test("the timeline of the page does what the page says, each thing at its own instant", () => {
  const world = openTestWorld(exampleOf("Timeline"));
  const at = (minutes: number, ref: string) => {
    const passed = (world.clock.now() - Date.parse("2026-03-02T09:00:00Z")) / minute;
    if (minutes > passed) advanceClock(world, (minutes - passed) * minute);
    return evaluateKey(world, ref).pathId;
  };
  expect([at(9, "main"), at(10, "main"), at(10, "main-2")]).toEqual([
    "200.test",
    "200.retiring",
    "200.replacement",
  ]);
  expect(scenarioSecret(world, "main-2")).toMatch(/^SVC_test_sbx/);
  expect([at(39, "main"), at(40, "main")]).toEqual(["200.retiring", "401.rotated"]);
  expect([at(119, "loans"), at(120, "loans")]).toEqual(["200.live", "403.live_suspended"]);
  expect([at(3 * 1440 - 1, "loans"), at(3 * 1440, "loans")]).toEqual(["403.live_suspended", "200.live"]);
});

test("all that a moved clock passes happens, each step as if nobody had moved it", () => {
  const world = openTestWorld(exampleOf("Timeline"));
  advanceClock(world, 7 * 1440 * minute);
  const refs = ["main", "main-2", "loans"];
  expect(refs.map((ref) => evaluateKey(world, ref).pathId)).toEqual([
    "401.rotated",
    "200.replacement",
    "200.live",
  ]);
});

test("the story of the page goes as it says", async () => {
  const steps = await tell(exampleOf("Story"));
  expect(steps).toHaveLength(12);
  expect(surprises(steps)).toEqual([]);
});

test("a scenario inherits a timeline, which [] takes away, and no story", () => {
  const extended = (more: string) => parseScenario(`version: 1\nextends: live-suspended\n${more}`);
  expect(extended("").timeline).toHaveLength(1);
  expect(extended("timeline: []").timeline).toEqual([]);
  expect(extended("")).not.toHaveProperty("story");
  expect(extended("story: [{ say: Mine. }]").story).toEqual([{ say: "Mine." }]);
});

test("the page lists every bundled scenario", () => {
  for (const name of scenarioNames) expect(sections.get("Bundled scenarios")).toContain(`| \`${name}\` |`);
});

describe("the page has every field", () => {
  const below = (name: string) => levelsOf(scenarioSchema).filter(({ path }) => path[0] === name);
  const documented = ["Timeline", "Actions", "Story"].map((title) => sections.get(title)).join("\n");

  test.each(["timeline", "story"])("of a %s", (name) => {
    // What a key and a fault have of their own is told where keys and faults are.
    const fields = below(name)
      .filter(({ path }) => !path.includes("faults") && path.at(-1) !== "limits")
      .flatMap((level) => level.fields);
    expect(fields).toContain("overlap");
    expect(fields.filter((field) => !documented.includes(`\`${field}`) && field !== "expect")).toEqual([]);
  });
});

test("what stands behind # in the starter scenario is valid, and its story goes as it says", async () => {
  const blocks = starterScenario.split("\n\n").map((block) => {
    const begins = block.search(/^# (population|faults|preview|timeline|story):(?: true)?$/m);
    return begins === -1 ? block : block.slice(0, begins) + block.slice(begins).replace(/^# /gm, "");
  });
  const scenario = parseScenario(blocks.join("\n\n"));
  expect([scenario.faults?.length, scenario.timeline?.length, scenario.story?.length]).toEqual([3, 2, 10]);
  expect(scenario.consents).toHaveLength(2);
  expect(scenario.population?.organizations).toBe(200);
  // Its faults hit some requests and not others; the story is about keys.
  expect(surprises(await tell({ ...scenario, faults: [] }))).toEqual([]);
});

test("the starter scenario is valid as it stands", () => {
  expect(Object.keys(parseScenario(starterScenario).organizations ?? {})).toEqual(["harvest-bank"]);
});

test("the starter scenario shows every field of the format", () => {
  // What only snapshots write is not for a beginner's eyes.
  const ofSnapshots = [
    "requests_answered",
    "sha256",
    "counted_at",
    "requests_matched",
    "suspensions",
    "suspended",
    "permission",
  ];
  const fields = levelsOf(scenarioSchema)
    .flatMap((level) => level.fields)
    .filter((field) => !ofSnapshots.includes(field));
  expect(fields.filter((field) => !new RegExp(`\\b${field}:`).test(starterScenario))).toEqual([]);
});

test("the starter scenario begins with the line by which editors find the schema", () => {
  expect(starterScenario).toMatch(
    /^# yaml-language-server: \$schema=https:\/\/\S+\/scenario\.schema\.json\n/,
  );
});
