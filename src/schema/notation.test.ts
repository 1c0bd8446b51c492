import { expect, test } from "vitest";
import { parse } from "yaml";
import { jsonNotation, type Notation, writeValue } from "./notation.js";

const yaml: Notation = { ...jsonNotation, language: "yaml" };

test.each([
  ["bank-1", "bank-1"],
  ["90s", "90s"],
  ["-5m", "-5m"],
  ["2026-01-31T09:00:00Z", "2026-01-31T09:00:00Z"],
  ["/things/{id}", '"/things/{id}"'],
  ["a:b/c.d", "a:b/c.d"],
  ["a:", '"a:"'],
  [["/things/{id}/x"], '["/things/{id}/x"]'],
  [{ path: "/things/{id}" }, '{ path: "/things/{id}" }'],
  ["0xab", '"0xab"'],
  ["0b", "0b"],
  ["1e3", '"1e3"'],
  ["on", '"on"'],
  ["2026", '"2026"'],
  [["a", 1, true], "[a, 1, true]"],
])("YAML reads %j back from %s", (value, text) => {
  expect([writeValue(value, yaml), parse(text)]).toEqual([text, value]);
});
