import { expect, test } from "vitest";
import { membersToCamelCase, membersToSnakeCase } from "./spelling.js";

test("members are spelled for JSON and back; headers keep their names", () => {
  const value = {
    perMinute: [{ outcome: 1 }],
    "200.getKeyUsage": 1,
    "Content-Type": 1,
    headers: { farmToken: 4 },
  };
  const { perMinute: _, ...kept } = value;
  const json = { per_minute: [{ outcome: 1 }], ...kept };
  expect([membersToSnakeCase(value), membersToCamelCase(json)]).toEqual([json, value]);
});
