import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import { startServer } from "./children.js";
import { type Figure, figureOf } from "./figure.js";
import { runToEnd, timeOf, timeToAnswer } from "./first-answer.js";
import { alternate } from "./rounds.js";
import { populatedScenario } from "./scenario.js";

/** A world of a million keys, of which a thousand are used, against a world of ten; and its start. */
export async function measureManyKeys(args: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  const many = args.quick ? 100_000 : 1_000_000;
  const name = many.toLocaleString("en");
  const target = { atLeast: 0.95 };
  return [
    figureOf(
      `requests per second: a population of ${name} keys / of 10`,
      await ratios(args, bundle, many, true),
      target,
    ),
    figureOf(
      `requests per second: ${name} keys written out / 10`,
      await ratios(args, bundle, many, false),
      target,
    ),
    ...(await startFigures(args, bundle, many)),
  ];
}

async function ratios(
  { node, quick }: BenchArguments,
  bundle: Bundle,
  many: number,
  isPopulation: boolean,
): Promise<number[]> {
  const start = (keys: number, flags: readonly string[] = []) =>
    startServer(bundle.server, node, { kind: "sandbox", keys, isPopulation }, flags);
  // Room for what is written out.
  const ours = await start(many, isPopulation ? [] : ["--max-old-space-size=4096"]);
  const theirs = await start(10);
  const rounds = await alternate(
    bundle,
    { ours, theirs },
    { rounds: quick ? 3 : 11, requests: quick ? 5000 : 30_000 },
  );
  return rounds.map((round) => round.ours.perSecond / round.theirs.perSecond);
}

async function startFigures(
  { node, quick }: BenchArguments,
  bundle: Bundle,
  many: number,
): Promise<Figure[]> {
  const file = join(bundle.folder, "many.yaml");
  await writeFile(file, stringify(populatedScenario(many)));
  const seconds: number[] = [];
  const starts: number[] = [];
  // The first run fills caches, and is left out.
  for (let run = 0; run <= (quick ? 3 : 7); run++) {
    const empty = await timeOf(() => runToEnd(node, ["-e", "0"]));
    const time = await timeToAnswer(node, file);
    if (run === 0) continue;
    seconds.push(time / 1000);
    starts.push(time / empty);
  }
  const name = `a population of ${many.toLocaleString("en")} keys`;
  return [
    figureOf(`first answer: ${name}, in seconds`, seconds, { atMost: 2 }),
    figureOf(`first answer: ${name} / node -e 0`, starts),
  ];
}
