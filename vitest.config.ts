import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

const files = ["src", "test"]
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
  )
  .filter((file) => file.endsWith(".test.ts"));

// `npm test` runs the project `quick`, `npm run test:rest` the others.
const isSlow = (file: string) => file.endsWith(".slow.test.ts");

// A module that is already loaded for another file cannot be mocked any more, and a heap snapshot is about one file.
const isAlone = (file: string) => /vi\.mock\(|writeHeapSnapshot\(/.test(readFileSync(file, "utf8"));

const cores = availableParallelism();

/** `order`: projects of a later one start after those of an earlier one. */
const project = (name: string, order: number, maxWorkers: number, include: readonly string[]) => {
  const more = { maxWorkers, sequence: { groupOrder: order } };
  return [
    {
      extends: true,
      test: { name, isolate: false, include: include.filter((file) => !isAlone(file)), ...more },
    },
    { extends: true, test: { name: `${name}-alone`, include: include.filter(isAlone), ...more } },
  ] as const;
};

export default defineConfig({
  test: {
    globalSetup: ["scripts/generate.ts"],
    reporters: ["default", "./scripts/build-age.js"],
    // For a busy machine. The long forms of the tests take their time.
    testTimeout: process.env.NIGHTLY === "1" ? 600_000 : 120_000,
    hookTimeout: 120_000,
    // Left to itself, Vitest polls for a second: too short on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    projects: [
      // Left to itself, Vitest takes one of two cores.
      ...project(
        "quick",
        0,
        cores,
        files.filter((file) => !isSlow(file)),
      ),
      // They wait for two thirds of their time: for pauses of clients, and for programs.
      ...project("slow", 1, 2 * cores, files.filter(isSlow)),
    ],
  },
});
