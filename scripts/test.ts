import { spawn } from "node:child_process";
import { noBalancer } from "../test/support/balancer.js";
import { noBrowser } from "../test/support/chromium-page.js";
import { inParallel } from "../test/support/in-parallel.js";
import { noRedis } from "../test/support/redis-server.js";
import { root, runProgram } from "./run-program.js";

// `npm test`: lint, types and build (unless it is up to date) in parallel, and the quick tests after the build. `npm run
// test:all`: all tests, then the checks that no single Node can show.

/** Runs a step and prints its duration; if it fails, also its output. */
async function step(name: string, line: string): Promise<boolean> {
  const start = performance.now();
  const { code, output } = await runProgram("npm", ["exec", "-c", line], { timeout: 900_000 });
  const seconds = Math.round((performance.now() - start) / 1000);
  console.log(code === 0 ? `✓ ${name} (${seconds} s)` : `✗ ${name}\n\n${output}`);
  return code === 0;
}

const isWhole = process.argv[2] === "--all";
const checks = [["audit"], ["matrix"], ["install-check"], ["image"], ["examples"], ["binary", "--check"]];

function run(argv: readonly string[]): Promise<boolean> {
  const child = spawn("npx", argv, { cwd: root, stdio: "inherit" });
  return new Promise((resolve) => child.on("close", (code) => resolve(code === 0)));
}

/** Runs the checks, two at a time; each prints `<name>: N passed, N failed` at its end. */
async function runChecks(): Promise<boolean> {
  const results: boolean[] = [];
  await inParallel(checks.length, 2, async (index) => {
    const [name, ...argv] = checks[index] as readonly string[];
    results.push(await run(["tsx", `scripts/${name}.ts`, ...argv]));
  });
  return results.every(Boolean);
}

console.log("… lint, types, build");
// What it has checked before is not checked again.
const types = "tsc --noEmit --incremental --tsBuildInfoFile node_modules/.cache/svc-sandbox/types.json";
const checked = [step("lint", "biome check ."), step("types", `tsx scripts/generate.ts && ${types}`)];
let passed = await step("build", "node scripts/prepare.js");
if (passed) {
  console.log("… tests");
  passed = await run([
    ...["vitest", "run", "--silent=passed-only"],
    // In a pipe, only what failed is shown, and no color.
    ...["--reporter", process.stdout.isTTY ? "dot" : "minimal"],
    ...(isWhole ? [] : ["--project", "quick*", ...process.argv.slice(2)]),
  ]);
  if (isWhole) passed = (await runChecks()) && passed;
}
passed = (await Promise.all(checked)).every(Boolean) && passed;
if (noBrowser) console.log(`The tests in a browser were skipped: ${noBrowser}`);
if (isWhole && noRedis) console.log(`The tests of the shared store were skipped: ${noRedis}`);
if (isWhole && noBalancer) console.log(`The tests behind a load balancer were skipped: ${noBalancer}`);
process.exitCode = passed ? 0 : 1;
