import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { FileStates, FileWatch } from "../../src/cli/watch.js";
import { temporaryFolder } from "../support/temporary-folder.js";

let watch: FileWatch | undefined;
afterEach(() => watch?.close());

/** Reads a file as a command does, and notes its state before. */
function readNoted(file: string, states = new FileStates()) {
  states.addUnread(file);
  return { states, text: readFileSync(file, "utf8") };
}

/** Follows a file that was read in these states; resolves to its text once the watch has it read again. */
function nextTextOf(file: string, states: FileStates): Promise<string> {
  return new Promise((resolve) => {
    watch = new FileWatch(async () => {
      const reading = readNoted(file);
      return { states: reading.states, onFollowed: () => resolve(reading.text) };
    });
    watch.start(states);
  });
}

it("reads a file again that was written after it was read and before it is followed", async () => {
  const file = join(temporaryFolder({ "a.yaml": "first" }), "a.yaml");
  const { states } = readNoted(file);
  writeFileSync(file, "second one");
  expect(await nextTextOf(file, states)).toBe("second one");
});

it("takes the state before the first of two readings", async () => {
  const file = join(temporaryFolder({ "a.yaml": "first" }), "a.yaml");
  const { states } = readNoted(file);
  writeFileSync(file, "second one");
  readNoted(file, states);
  expect(await nextTextOf(file, states)).toBe("second one");
});
