import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import { type ServerChild, startServer } from "./children.js";
import { startCommand } from "./command.js";
import { type Figure, figureOf } from "./figure.js";
import { alternate } from "./rounds.js";
import { benchScenario } from "./scenario.js";

/** The started command, journal on, against a bare `node:http` server that sends the same bytes. */
export async function measureThroughput({ node, quick }: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  const file = join(bundle.folder, "bench.yaml");
  await writeFile(file, stringify(benchScenario(10)));
  const ours = await startCommand(node, file);
  const theirs = await startServer(bundle.server, node, { kind: "bare", ...(await answerOf(ours)) });
  const rounds = await alternate(
    bundle,
    { ours, theirs },
    { rounds: quick ? 3 : 11, requests: quick ? 5000 : 30_000 },
  );
  return [
    figureOf(
      "requests per second: sandbox / bare node:http",
      rounds.map((round) => round.ours.perSecond / round.theirs.perSecond),
      { atLeast: 0.92 },
    ),
    figureOf(
      "99th percentile of latency: sandbox / bare node:http",
      rounds.map((round) => round.ours.p99 / round.theirs.p99),
      { atMost: 2 },
    ),
  ];
}

/** What the sandbox answers: the bytes that the bare server is to send. */
export async function answerOf({ port, keys }: ServerChild): Promise<{ headers: string[]; body: string }> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/relying-party/me`, {
    headers: { "x-api-key": keys[0] as string },
  });
  // The counter in the body grows to this many digits in the warm-up, and stays there.
  const body = (await response.text()).replace('"today":1', '"today":10000');
  return {
    headers: [
      "Content-Type",
      response.headers.get("Content-Type") as string,
      "X-Request-Id",
      response.headers.get("X-Request-Id") as string,
      "Content-Length",
      String(Buffer.byteLength(body)),
    ],
    body,
  };
}
