/** Counts attempts. */
export interface Tally {
  /** Prints a line for one thing that was tried; for a failure, why, and counts it. */
  readonly count: (name: string, failure: string | undefined) => void;
  /** Prints a line for one thing that was not tried, and why. Counts nothing. */
  readonly skip: (name: string, why: string) => void;
  /** Prints `<title>: N passed, N failed`, which CI adds up; sets the exit code. */
  readonly close: () => void;
}

/** Starts a count under a title. */
export function createTally(title: string): Tally {
  let passed = 0;
  let failed = 0;
  return {
    count(name, failure) {
      if (failure === undefined) passed += 1;
      else failed += 1;
      console.log(`${failure === undefined ? "✓" : "✗"} ${name}`);
      if (failure !== undefined) console.log(indented(failure));
    },
    skip(name, why) {
      console.log(`- ${name}: skipped, ${why}`);
    },
    close() {
      console.log(`${title}: ${passed} passed, ${failed} failed`);
      // Nothing tried is nothing proven.
      process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
    },
  };
}

// Runners report the failure at its end.
function indented(text: string): string {
  const lines = text.trimEnd().split("\n").slice(-40);
  return lines.map((line) => `    ${line}`).join("\n");
}
