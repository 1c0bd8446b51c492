import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import { type ServerChild, startClientChild, startServerChild } from "./children.js";
import type { Figure } from "./figure.js";
import type { ClientReading } from "./messages.js";
import { median, spread } from "./statistics.js";

const connections = 32;

/** The sandbox, journal on, against a bare `node:http` server that sends the same bytes. */
export async function measureThroughput({ node, quick }: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  const sandbox = await startServerChild(bundle.server, node, { kind: "sandbox", keys: 10 });
  const bare = await startServerChild(bundle.server, node, { kind: "bare", ...(await answerOf(sandbox)) });
  const rounds = await alternate(bundle, sandbox, bare, { rounds: quick ? 3 : 11, requests: quick ? 5000 : 30_000 });
  return [
    {
      name: "requests per second, sandbox / bare node:http",
      ratio: median(rounds.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond)),
      spread: spread(rounds.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond)),
      target: { atLeast: 0.85 },
    },
    {
      name: "99th percentile of latency, sandbox / bare node:http",
      ratio: median(rounds.map(({ ours, theirs }) => ours.p99 / theirs.p99)),
      spread: spread(rounds.map(({ ours, theirs }) => ours.p99 / theirs.p99)),
      target: { atMost: 2 },
    },
  ];
}

/** One round on each of two servers, close together, so that what else the machine does meets both. */
export interface Round {
  readonly ours: ClientReading & { readonly cpu: number };
  readonly theirs: ClientReading & { readonly cpu: number };
}

/** Loads two servers in turn; the first two rounds warm up and are left out. */
export async function alternate(
  bundle: Bundle,
  ours: ServerChild,
  theirs: ServerChild,
  { rounds, requests }: { rounds: number; requests: number },
): Promise<Round[]> {
  const client = startClientChild(bundle.client);
  const loadOne = async (server: ServerChild) => {
    await server.read();
    const reading = await client.load({ port: server.port, connections, keys: server.keys, requests });
    return { ...reading, cpu: (await server.read()).cpu };
  };
  const readings: Round[] = [];
  for (let round = -2; round < rounds; round++) {
    // Who goes first alternates too.
    const first = round % 2 === 0 ? ours : theirs;
    const one = await loadOne(first);
    const other = await loadOne(first === ours ? theirs : ours);
    if (round >= 0) readings.push(first === ours ? { ours: one, theirs: other } : { ours: other, theirs: one });
  }
  await Promise.all([client.stop(), ours.stop(), theirs.stop()]);
  return readings;
}

/** What the sandbox answers: the bytes that the bare server is to send. */
async function answerOf({ port, keys }: ServerChild): Promise<{ headers: string[]; body: string }> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/relying-party/me`, {
    headers: { "x-api-key": keys[0] as string },
  });
  const body = await response.text();
  const headers = ["Content-Type", "X-Request-Id", "Content-Length"].flatMap((name) => [
    name,
    response.headers.get(name) as string,
  ]);
  return { headers, body };
}
