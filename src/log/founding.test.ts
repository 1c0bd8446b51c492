import { expect, test } from "vitest";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { canMigrate, canRead, content, differencesOf, foundingOf } from "./founding.js";

test.each([
  ["0.3.0", "0.3.0", true, true],
  ["0.3.1", "0.3.0", true, false],
  ["0.3.0", "0.3.1", true, true],
  ["0.2.9", "0.3.0", true, true],
  ["0.9.0", "0.10.0", true, true],
  ["0.10.0", "0.9.9", false, false],
  ["0.4.0", "0.3.0", false, false],
  ["1.0.0", "0.3.0", false, false],
  ["0.3.0", "1.0.0", false, false],
])("a state of version %s is read by %s: %s, and migrated: %s", (theirs, ours, isRead, isMigrated) => {
  expect(canRead({ version: theirs }, { version: ours })).toBe(isRead);
  expect(canMigrate({ version: theirs }, { version: ours })).toBe(isMigrated);
});

test("--migrate changes the scenario and the limits of instances, and nothing else", () => {
  const scenario = { version: 1, organizations: {} } as NamedScenario["scenario"];
  const ours = foundingOf({ scenario, name: "own" }, { "--seed": 1 });
  const changes = { scenario: "other", [content]: "0", "--max-instances": 7, "--instance-ttl": "1h" };
  expect(differencesOf(ours, { ...ours })).toEqual([]);
  expect(differencesOf({ ...ours, ...changes }, ours).sort()).toEqual(Object.keys(changes).sort());
  expect(canMigrate({ ...ours, ...changes }, ours)).toBe(true);
  for (const other of [{ "--seed": 2 }, { "--seed": undefined }, { "--frozen": true }])
    expect(canMigrate({ ...ours, ...other }, ours)).toBe(false);
  expect(foundingOf({ scenario: { ...scenario }, name: "moved" })[content]).toBe(ours[content]);
});
