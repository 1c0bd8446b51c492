import { join, resolve } from "node:path";
import { type Figure, figureOf } from "./figure.js";
import { timeToResponse } from "./first-response.js";
import { type Bundle, benchScenario, commandFile, scenarioFile, startCommand } from "./programs.js";
import { alternate, amountOf, type BenchArguments } from "./rounds.js";

/** Measures the requests and the start of this project against those of another built copy, in turns. */
export async function measureAgainst(
  args: BenchArguments,
  bundle: Bundle,
  folder: string,
): Promise<Figure[]> {
  const other = join(resolve(folder), "bin/svc-sandbox.js");
  const file = await scenarioFile(bundle, benchScenario(10));
  const start = (command: string) => startCommand(args.node, file, [], command);
  const rounds = await alternate(
    bundle,
    { ours: await start(commandFile), theirs: await start(other) },
    amountOf(args),
  );
  const starts: number[] = [];
  for (let round = 0; round <= (args.quick ? 3 : 15); round += 1) {
    const own = await timeToResponse(args.node, "key-states");
    const ratio = own / (await timeToResponse(args.node, "key-states", other));
    // The first start fills the caches of the system.
    if (round > 0) starts.push(ratio);
  }
  const perSecond = rounds.map((round) => round.ours.perSecond / round.theirs.perSecond);
  return [
    figureOf(`requests per second: this / ${folder}`, perSecond, { atLeast: 0.9 }),
    figureOf(`first response: this / ${folder}`, starts, { atMost: 1.1 }),
  ];
}
