import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import { startServer } from "./children.js";
import { type Figure, figureOf } from "./figure.js";
import { alternate } from "./rounds.js";

/** A world of a million keys, of which a thousand are used, against a world of ten. */
export async function measureManyKeys({ node, quick }: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  const many = quick ? 100_000 : 1_000_000;
  const ours = await startServer(bundle.server, node, { kind: "sandbox", keys: many }, [
    "--max-old-space-size=4096",
  ]);
  const theirs = await startServer(bundle.server, node, { kind: "sandbox", keys: 10 });
  const rounds = await alternate(
    bundle,
    { ours, theirs },
    { rounds: quick ? 3 : 11, requests: quick ? 5000 : 30_000 },
  );
  return [
    figureOf(
      `requests per second: ${many.toLocaleString("en")} keys / 10 keys`,
      rounds.map((round) => round.ours.perSecond / round.theirs.perSecond),
      { atLeast: 0.9 },
    ),
  ];
}
