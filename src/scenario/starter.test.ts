import { expect, test } from "vitest";
import { levelsOf } from "./format/inspect.js";
import { scenarioSchema } from "./format/schema.js";
import { parseScenario } from "./parse-scenario.js";
import { starterScenario } from "./starter.js";

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
