import { expect, test } from "vitest";
import { wrapCommand } from "./plain-text.js";

test("a command wraps between words, and keeps each character that a shell reads", () => {
  const command = String.raw`svc-sandbox exec key-states -- npm test -- --grep 'it'\''s a key' -H "a b"`;
  const lines = wrapCommand(command, 40);
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.map((line) => line.trim().replace(/ \\$/, "")).join(" ")).toBe(command);
  expect(lines.join("\n")).toContain(String.raw`'it'\''s a key'`);
  expect(wrapCommand("curl it's", 80)).toEqual(["curl it's"]);
});
