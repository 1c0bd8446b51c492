import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import { childEnvironment, startFarmers } from "./children.js";
import { commandFile } from "./command.js";
import { type Figure, figureOf } from "./figure.js";
import type { FarmersReading } from "./messages.js";

/** Synthetic farmers: how fast they are made, wherever they stand, and what a stream of them needs. */
export async function measureFarmers({ node, quick }: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  const program = startFarmers(bundle.farmers, node);
  const readings: FarmersReading[] = [];
  // The first two rounds warm up.
  for (let round = -2; round < (quick ? 3 : 11); round++) {
    const reading = await program.measure({ farmers: quick ? 2000 : 5000 });
    if (round >= 0) readings.push(reading);
  }
  await program.stop();
  // Both long enough for memory to be collected many times: what is still to grow would grow with the count.
  const [few, many] = quick ? [20_000, 60_000] : [100_000, 1_000_000];
  const memory = (await peakMemory(node, many)) / (await peakMemory(node, few));
  return [
    figureOf(
      "farmers per second / plain faker drawing as many values",
      readings.map(({ farmers, faker }) => farmers / faker),
      { atLeast: 1 },
    ),
    figureOf(
      "time of a farmer: indexes from 999,000 on / from 0 on",
      readings.map(({ first, last }) => last / first),
      { atMost: 1.1 },
    ),
    figureOf(
      `peak memory of fixtures farmers: ${many.toLocaleString("en")} / ${few.toLocaleString("en")}`,
      [memory],
      { atMost: 1.2 },
    ),
  ];
}

// Looked at again and again, since what the system remembers of a process begins with that of the one that started it.
const tellPeak = `
let peak = 0;
const look = () => { peak = Math.max(peak, process.memoryUsage.rss()); };
setInterval(look, 10).unref();
process.on("exit", () => { look(); process.stderr.write(String(peak)); });
`;

/** The most memory that the command was seen to have, in bytes. */
async function peakMemory(node: string, count: number): Promise<number> {
  const argv = ["--import", `data:text/javascript,${encodeURIComponent(tellPeak)}`, commandFile];
  const child = spawn(node, [...argv, "fixtures", "farmers", "--count", String(count)], {
    env: childEnvironment(),
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [told] = await Promise.all([text(child.stderr), once(child, "exit")]);
  if (!/^\d+$/.test(told)) throw new Error(`expected a number and got ${told}`);
  return Number(told);
}
