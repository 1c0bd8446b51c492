import { parseArgs } from "node:util";
import { noRedis } from "../test/support/redis-server.js";
import { runHistories } from "./histories/run.js";

// `npm run histories -- 1000 --seed 1`: clients use three replicas over a Redis at once. One order of all operations must
// explain what they saw. With --disturb, replicas and Redis fail in between.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ...{ seed: { type: "string", default: "1" }, disturb: { type: "boolean", default: false } },
    ...{ fsync: { type: "string", default: "always" } },
  },
});
const { disturb, fsync } = values;
const count = Number(positionals[0] ?? (disturb ? 200 : 1000));
const seed = Number(values.seed);
const isValid = Number.isInteger(count) && count > 0 && Number.isInteger(seed) && positionals.length <= 1;
const usage =
  "Give the number of histories and a whole number as the seed: npm run histories -- 1000 --seed 1 [--disturb] [--fsync everysec]";
const problem = isValid && ["always", "everysec"].includes(fsync) ? noRedis : usage;
if (problem !== undefined) {
  console.error(problem);
  process.exit(2);
}

const { operations, unknown, unavailable, disturbances, slowest, failures } = await runHistories({
  ...{ count, seed, disturb, fsync },
  onProgress: (recorded) => recorded % Math.ceil(count / 10) === 0 && console.log(`${recorded} histories`),
});
console.log(`${operations} operations, ${unknown} of them with an unknown outcome: ${unavailable} got 503`);
if (disturb)
  console.log(`${disturbances} disturbances; all replicas were back within ${slowest.toFixed(0)} ms`);
for (const failure of failures) console.log(`✗ ${failure}`);
const isFine = failures.length === 0;
console.log(isFine ? `✓ ${count} histories, seed ${seed}` : `✗ repeat it with --seed ${seed}`);
process.exit(isFine ? 0 : 1);
