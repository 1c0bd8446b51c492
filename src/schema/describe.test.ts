import { expect, test } from "vitest";
import { parse } from "yaml";
import { jsonNotation, type Notation, writeChoices } from "./describe.js";

const yaml: Notation = { ...jsonNotation, language: "yaml" };

test.each([
  ["bank-1", "bank-1"],
  ["/things/{id}", '"/things/{id}"'],
  ["a:b/c.d", "a:b/c.d"],
  ["a:", '"a:"'],
  [["/things/{id}/x"], '["/things/{id}/x"]'],
  ["0xab", '"0xab"'],
  ["1e3", '"1e3"'],
  ["on", '"on"'],
  ["2026", '"2026"'],
  [["a", 1, true], "[a, 1, true]"],
])("YAML reads %j back from %s", (value, text) => {
  expect([writeChoices([value], yaml), parse(text)]).toEqual([text, value]);
});
