import { expect, test } from "vitest";
import { jsonWithParts } from "./json-with-parts.js";

test.each<[mapping: Readonly<Record<string, unknown>>, json: string]>([
  [{ a: 1, parts: [], b: undefined, c: 2 }, '{"a":1,"parts":[7,8],"c":2}'],
  [{ a: undefined, parts: undefined }, '{"parts":[7,8]}'],
  [{}, "{}"],
])("%j with a member in parts is valid JSON", (mapping, json) => {
  expect([...jsonWithParts(mapping, "parts", ["[7,", "8]"])].join("")).toBe(json);
});
