import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import { startServer } from "./children.js";
import { type Figure, figureOf } from "./figure.js";
import { timeToAnswer } from "./first-answer.js";
import { alternate, amountOf } from "./rounds.js";
import { populatedScenario, scenarioFile } from "./scenario.js";

/** The most keys of a scenario. */
const many = 100_000;

/** A world of 100,000 keys, of which a thousand are used, against a world of ten; and its start. */
export async function measureManyKeys(args: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  const start = (keys: number) =>
    startServer(bundle.server, args.node, { kind: "sandbox", keys, isPopulation: keys === many });
  const rounds = await alternate(
    bundle,
    { ours: await start(many), theirs: await start(10) },
    amountOf(args),
  );
  const file = await scenarioFile(bundle, populatedScenario(many));
  const seconds: number[] = [];
  // The first run fills caches and is left out.
  for (let run = 0; run <= (args.quick ? 3 : 7); run++) {
    const time = await timeToAnswer(args.node, file);
    if (run > 0) seconds.push(time / 1000);
  }
  return [
    figureOf(
      "requests per second: a population of 100,000 keys / 10 keys",
      rounds.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond),
      { atLeast: 0.9 },
    ),
    figureOf("first response: a population of 100,000 keys, in seconds", seconds, { atMost: 1 }),
  ];
}
