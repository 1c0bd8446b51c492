import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { makeSelfSigned } from "../src/node/server/tls.js";
import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import { startServer } from "./children.js";
import { startCommand } from "./command.js";
import { type Figure, figureOf } from "./figure.js";
import { alternate } from "./rounds.js";
import { benchScenario } from "./scenario.js";
import { answerOf } from "./throughput.js";

/** The started command over HTTP/2 against a bare `node:http2` server that sends the same bytes. */
export async function measureHttp2({ node, quick }: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  const file = join(bundle.folder, "http2.yaml");
  await writeFile(file, stringify(benchScenario(10)));
  const plain = await startCommand(node, file);
  const answer = await answerOf(plain);
  await plain.stop();
  const rounds = await alternate(
    bundle,
    {
      ours: await startCommand(node, file, ["--tls"]),
      theirs: await startServer(bundle.server, node, {
        kind: "bare",
        ...answer,
        tls: await makeSelfSigned(),
      }),
    },
    { rounds: quick ? 3 : 11, requests: quick ? 4000 : 16_000, load: { connections: 4, streams: 8 } },
  );
  return [
    figureOf(
      "requests per second over HTTP/2: sandbox / bare node:http2",
      rounds.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond),
    ),
    figureOf(
      "99th percentile of latency over HTTP/2: sandbox / bare node:http2",
      rounds.map(({ ours, theirs }) => ours.p99 / theirs.p99),
    ),
  ];
}
