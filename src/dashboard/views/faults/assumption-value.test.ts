import { expect, test } from "vitest";
import { assumptionIn } from "./assumption-value.js";

test.each<[string, Record<string, unknown>, unknown]>([
  ["5", { type: "integer" }, 5],
  ["0.5", { type: "number" }, 0.5],
  ["five", { type: "integer" }, "five"],
  ["a, b", { type: "array" }, ["a", "b"]],
  ["null", { anyOf: [{ type: "string" }, { type: "null" }] }, null],
  [" slow_down ", { type: "string" }, "slow_down"],
])("%j typed for %j is sent as %j", (text, schema, value) => {
  expect(assumptionIn(text, schema)).toEqual(value);
});
