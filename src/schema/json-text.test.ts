import { expect, test } from "vitest";
import { canonicalJson, tryParseJson } from "./json-text.js";

test("canonical JSON is the same text however the members are ordered, at any depth", () => {
  const text = '{"a":[2,{"c":null,"d":1}],"b":1}';
  expect(canonicalJson({ b: 1, a: [2, { d: 1, c: null }] })).toBe(text);
  expect(canonicalJson({ a: [2, { c: null, d: 1 }], b: 1 })).toBe(text);
  expect([null, "a", [2, 1]].map(canonicalJson)).toEqual(["null", '"a"', "[2,1]"]);
});

test("a text that is not JSON has no value", () => {
  expect([tryParseJson('{"a":1}'), tryParseJson("{a")]).toEqual([{ a: 1 }, undefined]);
});
