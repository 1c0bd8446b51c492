import { expect, test } from "vitest";
import { OutputTail } from "./client-output.js";

const key = "SVC_test_sbx0123456789abcdefghijklmnopqrstuv";

test("a short output is kept whole, in lines without keys and colors", () => {
  const tail = new OutputTail();
  tail.add(Buffer.from(`\u001b[31mfirst\u001b[0m\n${key}`));
  tail.add(Buffer.from("\nlast\n"));
  const [first, redacted, last] = tail.lines();
  expect([first, last]).toEqual(["first", "last"]);
  expect(redacted).not.toContain("0123456789");
});

test("a long output that is cut in a key has no part of this key", () => {
  const tail = new OutputTail();
  const lastLines = "x".repeat(60).concat("\n").repeat(3);
  const endOfKey = key.slice(-20);
  // The kept end starts inside of the key.
  const filler = "y".repeat(64 * 1024 - endOfKey.length - 1 - lastLines.length);
  tail.add(Buffer.from(`start\n${key}${filler}\n${lastLines}`));
  const lines = tail.lines();
  expect(lines.join("\n")).not.toContain(endOfKey);
  expect(lines).toEqual(lastLines.trimEnd().split("\n"));
});
