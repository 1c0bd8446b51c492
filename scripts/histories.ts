import { parseArgs } from "node:util";
import { noRedis } from "../test/support/redis-server.js";
import { runHistories } from "./histories/run.js";

// `npm run histories -- 300 --seed 1`: clients use three servers over a Redis at once, while servers, Redis and connections fail.
// Nothing may be lost, doubled, over a limit or stale: one order of all operations must explain what they saw.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: "string", default: "1" } },
});
const [count, seed] = [Number(positionals[0] ?? 20), Number(values.seed)];
const isValid = Number.isInteger(count) && count > 0 && Number.isInteger(seed) && positionals.length <= 1;
const usage =
  "Give the number of histories and a whole number as the seed: npm run histories -- 300 --seed 1";
const problem = isValid ? noRedis : usage;
if (problem !== undefined) {
  console.error(problem);
  process.exit(2);
}

const { operations, unknown, failed, failures } = await runHistories(count, seed, true);
console.log(`${operations} operations, ${unknown} of them with an unknown outcome`);
const faults = Object.entries(failed?.counts ?? {}).map(([name, times]) => `${times} ${name}`);
console.log(`${faults.join(", ")}; all servers were back within ${failed?.slowest.toFixed(0)} ms`);
for (const failure of failures) console.log(`✗ ${failure}`);
const isFine = failures.length === 0;
console.log(isFine ? `✓ ${count} histories, seed ${seed}` : `✗ repeat it with --seed ${seed}`);
process.exit(isFine ? 0 : 1);
