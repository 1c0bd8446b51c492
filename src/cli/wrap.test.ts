import { expect, test } from "vitest";
import { columnsOf, wrap } from "./wrap.js";

test("lines are broken between words, and none is longer than the width", () => {
  expect(wrap("one two three", 8)).toEqual(["one two", "three"]);
  expect(wrap("one two three", 7)).toEqual(["one two", "three"]);
  expect(wrap("one two three", 40)).toEqual(["one two three"]);
});

test("line ends of the text stay, also empty lines", () => {
  expect(wrap("one\n\ntwo three", 5)).toEqual(["one", "", "two", "three"]);
});

test("a word longer than a line is broken where the line ends", () => {
  expect(wrap("a abcdefgh b", 3)).toEqual(["a", "abc", "def", "gh", "b"]);
});

test("what people see as one character stays whole, and wide ones take two columns", () => {
  expect(columnsOf("e\u0301👩‍🌾日本")).toBe(1 + 2 + 4);
  expect(wrap("日本語", 4)).toEqual(["日本", "語"]);
  expect(wrap("e\u0301e\u0301e\u0301", 2)).toEqual(["e\u0301e\u0301", "e\u0301"]);
});

test("a character wider than the line is not lost", () => {
  expect(wrap("日", 1).join("")).toBe("日");
});
