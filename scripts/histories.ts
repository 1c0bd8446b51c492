import { parseArgs } from "node:util";
import { noRedis } from "../test/support/redis-server.js";
import { runHistories } from "./histories/run.js";

// While servers, Redis and connections fail, clients use three servers at once. One order must explain what they saw.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: "string", default: "1" } },
});
const [count, seed] = [Number(positionals[0] ?? 20), Number(values.seed)];
const isValid = Number.isInteger(count) && count > 0 && Number.isInteger(seed) && positionals.length <= 1;
const usage = "Give the number of histories and a whole number as the seed: histories -- 300 --seed 1";
const problem = isValid ? noRedis : usage;
if (problem !== undefined) {
  console.error(problem);
  process.exit(2);
}

const { operations, unknown, open, failed, failures } = await runHistories(count, seed, true);
console.log(`${operations} operations, ${unknown} with an unknown outcome; ${open} histories undecided`);
const faults = Object.entries(failed?.counts ?? {}).map(([name, times]) => `${times} ${name}`);
console.log(`${faults.join(", ")}; all servers were back within ${failed?.slowest.toFixed(0)} ms`);
for (const failure of failures) console.log(`✗ ${failure}`);
const isFine = failures.length === 0;
console.log(isFine ? `✓ ${count} histories, seed ${seed}` : `✗ repeat it with --seed ${seed}`);
process.exit(isFine ? 0 : 1);
