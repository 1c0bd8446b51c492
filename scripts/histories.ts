import { parseArgs } from "node:util";
import { noRedis } from "../test/support/redis-server.js";
import type { Recoveries } from "./histories/disturb.js";
import { runHistories } from "./histories/run.js";

// `npm run histories -- 1000 --seed 1`: clients use three replicas over a Redis at once, and what they saw is checked: there
// has to be one order of all operations that explains it. With --disturb replicas and Redis fail meanwhile.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string", default: "1" },
    disturb: { type: "boolean", default: false },
    fsync: { type: "string", default: "always" },
  },
});
const { disturb, fsync } = values;
const count = Number(positionals[0] ?? (disturb ? 200 : 1000));
const seed = Number(values.seed);
const isAsked = Number.isInteger(count) && count > 0 && Number.isInteger(seed) && positionals.length <= 1;
if (!isAsked || !/^(?:always|everysec)$/.test(fsync)) {
  console.error(
    "Give the number of histories and a whole number as the seed: npm run histories -- 1000 --seed 1 [--disturb] [--fsync everysec]",
  );
  process.exit(2);
}
if (noRedis !== undefined) {
  console.error(noRedis);
  process.exit(2);
}

const started = performance.now();
const every = Math.ceil(count / 10);
const found = await runHistories({
  ...{ count, seed, disturb, fsync },
  onProgress: (checked) => checked % every === 0 && say(`${checked} histories`),
});
say(
  `${found.histories} histories, ${found.operations} operations, ${found.unknown} of them with no outcome known; situations looked at: ${found.looked}, ${found.mostLooked} at most for one history`,
);
sayRecoveries(found.recoveries);
for (const failure of found.failures) console.log(`✗ ${failure}`);
const isFine = found.failures.length === 0;
console.log(isFine ? `✓ ${count} histories, seed ${seed}` : `✗ repeat it with --seed ${seed}`);
process.exit(isFine ? 0 : 1);

function say(text: string): void {
  console.log(`${((performance.now() - started) / 1000).toFixed(0).padStart(5)} s  ${text}`);
}

function sayRecoveries(recoveries: Recoveries): void {
  for (const [name, times] of recoveries) {
    const sorted = [...times].sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]?.toFixed(0);
    say(`${name}: ${times.length} times, all were back after ${at(0.5)} ms (median), ${at(1)} ms at most`);
  }
}
