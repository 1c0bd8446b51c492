import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { noBrowser } from "../test/support/chromium-page.js";
import { inParallel } from "../test/support/in-parallel.js";
import { root, runProgram } from "./run-program.js";

// `npm test` and `npm run test:rest`; words that are no flags of ours are Vitest's, such as the start of a path.

const words = process.argv.slice(2);
const isRest = words.includes("--rest");
const isSlowShown = words.includes("--slow");
const ofVitest = words.filter((word) => !["--rest", "--slow"].includes(word));
/** What no single Node shows, the longest first. Each prints `<name>: N passed, N failed` at its end. */
const checks: readonly string[][] = [
  ["scripts/examples.ts"],
  ["scripts/matrix.ts"],
  ["scripts/install-check.ts"],
  ["scripts/image.ts"],
  ["scripts/binary.ts", "--check"],
  ["scripts/audit.ts"],
];
/** What takes minutes, in its short form, which shows that it works. */
const short: Readonly<Record<string, string[]>> = {
  bench: ["bench/run.ts", "--quick"],
  screenshots: ["scripts/screenshots.ts", "--check"],
};

/** Runs commands one after the other, and prints the duration; if one fails, its output from the first place that matches. */
async function step(name: string, commands: readonly string[][], failure = /^/): Promise<boolean> {
  const start = performance.now();
  let [code, output]: [number | null, string] = [0, ""];
  for (const [program = "", ...argv] of commands) {
    if (code !== 0) break;
    ({ code, output } = await runProgram(program, argv, { timeout: 3_600_000, onOutput: showProgress }));
  }
  const seconds = Math.round((performance.now() - start) / 1000);
  const found = output.slice(Math.max(0, output.search(failure)));
  console.log(code === 0 ? `✓ ${name} (${seconds} s)` : `✗ ${name}\n\n${found}`);
  return code === 0;
}

/** Prints the lines of `progress-reporter.js`. */
function showProgress(text: string): void {
  for (const [line] of text.matchAll(/^… tests: .*$/gm)) console.log(line);
}

/** Runs Vitest without what the tests and their programs print, and prints the numbers. */
async function runTests(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "svc-sandbox-tests-"));
  const results = join(folder, "results.json");
  const chosen = ["--project", isRest ? "slow*" : "quick*", ...ofVitest];
  const names = ["minimal", "json", "./scripts/progress-reporter.js"];
  const reporters = [...names.flatMap((name) => ["--reporter", name]), "--outputFile", results];
  const passed = await step(
    "tests",
    // Not by `npm exec -c`: the tests would inherit its variable, and then none of their `npx` starts.
    [["npx", "vitest", "run", ...reporters, ...chosen]],
    /^.*Failed (?:Suites|Tests)/m,
  );
  const read = await readFile(results, "utf8").catch(() => undefined);
  await rm(folder, { recursive: true });
  if (read === undefined) return false;
  const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(read);
  console.log(`tests: ${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
  if (isSlowShown) console.log(slowest(testResults).join("\n"));
  return passed;
}

type FileResult = Readonly<{ name: string; startTime: number; endTime: number }>;

/** The ten files that took longest. */
function slowest(files: readonly FileResult[]): string[] {
  const seconds = ({ startTime, endTime }: FileResult) => (endTime - startTime) / 1000;
  const sorted = files.toSorted((a, b) => seconds(b) - seconds(a)).slice(0, 10);
  return sorted.map((file) => `${seconds(file).toFixed(1).padStart(6)} s  ${relative(root, file.name)}`);
}

function run(argv: readonly string[]): Promise<boolean> {
  const child = spawn("npx", ["tsx", ...argv], { cwd: root, stdio: "inherit" });
  return new Promise((resolve) => child.on("close", (code) => resolve(code === 0)));
}

async function runShort(name: string): Promise<boolean> {
  const passed = await step(name, [["npx", "tsx", ...(short[name] ?? [])]]);
  console.log(`${name}: ${passed ? "1 passed, 0 failed" : "0 passed, 1 failed"}`);
  return passed;
}

/** Runs the checks, two at a time. */
async function runChecks(): Promise<boolean> {
  const jobs = [
    ...checks.map((argv) => () => run(argv)),
    ...Object.keys(short).map((name) => () => runShort(name)),
  ];
  const results: boolean[] = [];
  await inParallel(jobs.length, 2, async (index) => {
    results.push((await jobs[index]?.()) === true);
  });
  return results.every(Boolean);
}

const checked = isRest
  ? []
  : [step("lint", [["npx", "biome", "check", "."]]), step("types", [["npm", "run", "--silent", "types"]])];
console.log(isRest ? "… build" : "… lint, types, build");
let passed = await step("build", [["node", "scripts/prepare.js"]]);
if (passed) {
  console.log("… tests");
  passed = await runTests();
  if (isRest) passed = (await runChecks()) && passed;
}
passed = (await Promise.all(checked)).every(Boolean) && passed;
if (noBrowser) console.log(`The tests in a browser were skipped: ${noBrowser}`);
process.exitCode = passed ? 0 : 1;
