import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { noBalancer } from "../test/support/balancer.js";
import { noBrowser } from "../test/support/chromium-page.js";
import { noRedis } from "../test/support/redis-server.js";
import { runProgram } from "./run-program.js";

// `npm test`: lint, types and build (unless it is up to date) side by side, then all tests.

const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs a step and says how long it took; when it fails, also what it wrote. */
async function step(name: string, argv: readonly string[]): Promise<boolean> {
  const start = performance.now();
  const { code, output } = await runProgram("npm", ["run", "--silent", ...argv], { cwd: root });
  const seconds = Math.round((performance.now() - start) / 1000);
  console.log(code === 0 ? `✓ ${name} (${seconds} s)` : `✗ ${name}\n\n${output}`);
  return code === 0;
}

function runTests(): Promise<boolean> {
  console.log("… tests");
  const vitest = spawn("npx", ["vitest", "run", ...process.argv.slice(2)], { cwd: root, stdio: "inherit" });
  return new Promise((resolve) => vitest.on("close", (code) => resolve(code === 0)));
}

console.log("… lint, types, build");
const steps = [step("lint", ["lint"]), step("types", ["types"]), step("build", ["prepublish"])];
const passed = (await Promise.all(steps)).every(Boolean) && (await runTests());
if (noBrowser) console.log(`The tests in a browser were skipped: ${noBrowser}`);
if (noRedis) console.log(`The tests of the shared store were skipped: ${noRedis}`);
if (noBalancer) console.log(`The tests behind a load balancer were skipped: ${noBalancer}`);
process.exitCode = passed ? 0 : 1;
