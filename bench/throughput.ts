import { join } from "node:path";
import { type Figure, figureOf } from "./figure.js";
import type { Bundle, ServerChild } from "./programs.js";
import { benchScenario, scenarioFile, startCommand, startServer } from "./programs.js";
import { alternate, amountOf, type BenchArguments, type Round } from "./rounds.js";

/** The command, journal on, against a bare `node:http` server that sends the same bytes; and with `--state` against itself. */
export async function* measureThroughput(args: BenchArguments, bundle: Bundle): AsyncGenerator<Figure> {
  const file = await scenarioFile(bundle, benchScenario(10));
  const start = (...flags: readonly string[]) => startCommand(file, flags);
  const ratios = (all: readonly Round[], member: "perSecond" | "p99") =>
    all.map(({ ours: one, theirs: other }) => one[member] / other[member]);
  const ours = await start();
  const bare = await startServer(bundle.server, await bytesOf(ours));
  const rounds = await alternate(bundle, { ours, theirs: bare }, amountOf(args));
  yield figureOf("requests per second: sandbox / bare node:http", ratios(rounds, "perSecond"), {
    atLeast: 0.8,
  });
  const latency = "99th percentile of latency: sandbox / bare node:http";
  yield figureOf(latency, ratios(rounds, "p99"), { atMost: 2 });
  const kept = { ours: await start("--state", join(bundle.folder, "state.json")), theirs: await start() };
  const keptRounds = await alternate(bundle, kept, amountOf(args));
  yield figureOf("requests per second: --state / without", ratios(keptRounds, "perSecond"), {
    atLeast: 0.9,
  });
  if (args.against === undefined) return;
  const theirs = await startCommand(file, [], join(args.against, "bin/svc-sandbox.js"));
  const earlier = await alternate(bundle, { ours: await start(), theirs }, amountOf(args));
  yield figureOf(`requests per second: this / ${args.against}`, ratios(earlier, "perSecond"), {
    atLeast: 0.99,
  });
}

async function bytesOf({ port, keys }: ServerChild): Promise<{ headers: string[]; body: string }> {
  const init = { headers: { "x-api-key": keys[0] as string } };
  const response = await fetch(`http://127.0.0.1:${port}/v1/relying-party/me`, init);
  // The counter in the body grows to this many digits in the warm-up, and keeps them.
  const body = (await response.text()).replace('"today":1', '"today":10000');
  const textOf = (name: string) => response.headers.get(name) as string;
  const headers = ["Content-Type", "X-Request-Id"].flatMap((name) => [name, textOf(name)]);
  return { headers: [...headers, "Content-Length", String(Buffer.byteLength(body))], body };
}
