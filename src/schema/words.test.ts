import { expect, test } from "vitest";
import { nearest, quote, quoteFile } from "./words.js";

test("letter case, dashes and spaces do not count as differences", () => {
  expect(nearest("Not-Approved", ["approved", "not_approved"])).toBe("not_approved");
  expect(nearest("not approved", ["approved", "not_approved"])).toBe("not_approved");
});

test("nothing is offered when nothing is near", () => {
  expect(nearest("banana", ["active", "revoked"])).toBeUndefined();
  expect(nearest("x", ["key-states"])).toBeUndefined();
  expect(nearest("a", [])).toBeUndefined();
  // A very long name is compared with nothing.
  expect(nearest("a".repeat(1_000_000), ["a".repeat(1_000_000)])).toBeUndefined();
});

test("of equally near names the first is offered", () => {
  expect(nearest("key-c", ["key-a", "key-b"])).toBe("key-a");
});

test.each([
  [`/home/${"long/".repeat(40)}my.yaml`, `"/home/${"long/".repeat(40)}my.yaml"`],
  ["/home/Вася/my.yaml", '"/home/Вася/my.yaml"'],
  ["/home/my\u200b.yaml", '"/home/my\\u{200b}.yaml"'],
  ["C:\\Users\\me\\my.yaml", '"C:\\Users\\me\\my.yaml"'],
])("the name of a file is whole, with what the eye cannot see: %s", (name, quoted) => {
  expect(quoteFile(name)).toBe(quoted);
});

test.each([
  ["a\u0085b", '"a\\u{85}b"'],
  ["a\u007fb", '"a\\u{7f}b"'],
  ["a\u009bb", '"a\\u{9b}b"'],
  ["a\nb", '"a\\nb"'],
  [`${"x".repeat(59)}\u{1f600}`, `"${"x".repeat(59)}\u{1f600}"`],
  [`${"x".repeat(59)}\u{1f600}\n`, `"${"x".repeat(59)}\u{1f600}…"`],
  ["x".repeat(60), `"${"x".repeat(60)}"`],
  ["\n".repeat(61), `"${"\\n".repeat(60)}…"`],
])("a quoted text shows its control characters, and is cut at a whole character: %j", (text, quoted) => {
  expect(quote(text)).toBe(quoted);
});
