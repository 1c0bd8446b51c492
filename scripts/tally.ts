import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Tally {
  /** A temporary folder, which is gone when the process ends. */
  readonly folder: string;
  /** Prints a line for one thing that was tried; for a failure, why, and counts it. */
  readonly count: (name: string, failure: string | undefined) => void;
  /** Prints a line for one thing that was not tried, and why. */
  readonly skip: (name: string, why: string) => void;
  /** Skips what this machine lacks the programs for. In CI, where nobody reads the lines, it would rot: there it is a failure. */
  readonly lack: (name: string, why: string) => void;
}

/**
 * Starts a count under a title. When the process ends, it prints `<title>: N passed, N failed`, which CI adds up, and
 * sets the exit code.
 */
export function createTally(title: string): Tally {
  const folder = mkdtempSync(join(tmpdir(), `svc-sandbox-${title}-`));
  let [passed, failed, skipped] = [0, 0, 0];
  process.once("exit", () => {
    rmSync(folder, { recursive: true, force: true });
    console.log(`${title}: ${passed} passed, ${failed} failed`);
    // Nothing tried is nothing proven.
    if (failed > 0 || passed + skipped === 0) process.exitCode = 1;
  });
  const count: Tally["count"] = (name, failure) => {
    if (failure === undefined) passed += 1;
    else failed += 1;
    console.log(`${failure === undefined ? "✓" : "✗"} ${name}`);
    if (failure !== undefined) console.log(indented(failure));
  };
  const skip: Tally["skip"] = (name, why) => {
    skipped += 1;
    console.log(`- ${name}: skipped, ${why}`);
  };
  return { folder, count, skip, lack: process.env.CI === undefined ? skip : count };
}

// Runners report the failure at its end.
function indented(text: string): string {
  const lines = text.trimEnd().split("\n").slice(-40);
  return lines.map((line) => `    ${line.slice(0, 2000)}`).join("\n");
}
