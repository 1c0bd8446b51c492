import { expect, test } from "vitest";
import { camelCase, canonicalJson, jsonWithParts, snakeCase, tryParseJson } from "./json.js";

test("canonical JSON is the same text however the members are ordered, at any depth", () => {
  const text = '{"a":[2,{"c":null,"d":1}],"b":1}';
  expect(canonicalJson({ b: 1, a: [2, { d: 1, c: null }] })).toBe(text);
  expect(canonicalJson({ a: [2, { c: null, d: 1 }], b: 1 })).toBe(text);
  expect([null, "a", [2, 1]].map(canonicalJson)).toEqual(["null", '"a"', "[2,1]"]);
});

test("a text that is not JSON has no value", () => {
  expect([tryParseJson('{"a":1}'), tryParseJson("{a")]).toEqual([{ a: 1 }, undefined]);
});

test("members are spelled for JSON and back; headers keep their names", () => {
  const value = {
    perMinute: [{ outcome: 1 }],
    "200.getKeyUsage": 1,
    "Content-Type": 1,
    headers: { farmToken: 4 },
  };
  const { perMinute: _, ...kept } = value;
  const json = { per_minute: [{ outcome: 1 }], ...kept };
  expect([snakeCase(value), camelCase(json)]).toEqual([json, value]);
});

test.each<[mapping: Readonly<Record<string, unknown>>, json: string]>([
  [{ a: 1, parts: [], b: undefined, c: 2 }, '{"a":1,"parts":[7,8],"c":2}'],
  [{ a: undefined, parts: undefined }, '{"parts":[7,8]}'],
  [{}, "{}"],
])("%j with a member in parts is valid JSON", (mapping, json) => {
  expect([...jsonWithParts(mapping, "parts", ["[7,", "8]"])].join("")).toBe(json);
});
