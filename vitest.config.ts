import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { ProgressReporter } from "./scripts/progress-reporter.js";

const files = ["src", "test"]
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
  )
  .filter((file) => file.endsWith(".test.ts"));
// A module that is already loaded for another file cannot be mocked any more, and a heap snapshot is about one file.
const alone = files.filter((file) => /vi\.mock\(|writeHeapSnapshot\(/.test(readFileSync(file, "utf8")));

export default defineConfig({
  test: {
    reporters: [new ProgressReporter()],
    globalSetup: "scripts/generate.ts",
    // For a busy machine. The long forms of the tests take their time.
    testTimeout: process.env.NIGHTLY === "1" ? 600_000 : 120_000,
    hookTimeout: 120_000,
    // Left to itself, Vitest polls for a second: too short on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    // Left to itself, Vitest takes one of two cores.
    maxWorkers: availableParallelism(),
    projects: [
      {
        extends: true,
        test: { name: "together", isolate: false, include: files, exclude: alone },
      },
      { extends: true, test: { name: "alone", include: alone } },
    ],
  },
});
