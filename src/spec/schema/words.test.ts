import { expect, test } from "vitest";
import { nearest, quote } from "./words.js";

test("letter case, dashes and spaces do not count as differences", () => {
  expect(nearest("Not-Approved", ["approved", "not_approved"])).toBe("not_approved");
  expect(nearest("not approved", ["approved", "not_approved"])).toBe("not_approved");
});

test("nothing is offered when nothing is near", () => {
  expect(nearest("banana", ["active", "revoked"])).toBeUndefined();
  expect(nearest("x", ["key-states"])).toBeUndefined();
  expect(nearest("a", [])).toBeUndefined();
});

test("of equally near names the first is offered", () => {
  expect(nearest("key-c", ["key-a", "key-b"])).toBe("key-a");
});

test("a very long name is compared with nothing", () => {
  expect(nearest("a".repeat(1_000_000), ["a".repeat(1_000_000)])).toBeUndefined();
});

test.each([
  ["revok\u200Bed", '"revok\u200Bed" with the character U+200B'],
  ["10\u00A0m", '"10\u00A0m" with the character U+00A0'],
  ["\u0430ctive", '"\u0430ctive" with the character U+0430'],
  ["Банк Україна", '"Банк Україна"'],
  ["two words", '"two words"'],
])("%j is quoted as %s, because some characters look like others or like nothing", (text, quoted) => {
  expect(quote(text)).toBe(quoted);
});
