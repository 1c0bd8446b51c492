import { median } from "../figure.js";
import { runToEnd, timeOf } from "../first-response.js";
import { type Bundle, type ClientChild, type ClientOrder, startClient, startServer } from "../programs.js";
import { connections, takeTurns } from "../rounds.js";
import { type Exchange, faultOf, type Job, mixed } from "./job.js";
import { type Peer, peers } from "./peers.js";
import { ask, type Response, serve } from "./serve.js";
import type { Reading } from "./table.js";

/** How long to measure one peer with one number of keys; times in milliseconds. */
const effort = { rounds: 9, starts: 4, longestWarmUp: 15_000, round: 600 };

const checkedKeys = 300;
/** The warm-up ends after this number of rounds without progress: a compiler may pause in between. */
const roundsOfRest = 5;
const fewestRequests = 100;
const mostRequests = 30_000;

/** Measures a peer against a bare `node:http` server that sends what the sandbox sends. Throws if it is wrong. */
export async function measure(name: string, job: Job, bundle: Bundle): Promise<Reading> {
  const peer = peers[name] as Peer;
  const firsts: number[] = [];
  // The first start fills the caches of the system and of Node.
  for (let start = 0; start <= effort.starts; start++) {
    const { firstResponse, stop } = await serve(peer, job);
    await stop();
    const empty = await timeOf(() => runToEnd(process.execPath, ["-e", "0"]));
    if (start > 0) firsts.push(firstResponse / empty);
  }
  const served = await serve(peer, job);
  const client = startClient(bundle.client);
  const bare = await startBare(bundle, job);
  try {
    const idle = served.memory();
    const order = await orderOf(job, served.port);
    const requests = requestsFor(await warmUp(client, order));
    const { statuses: _, closing: __, ...bareOrder } = order;
    const rounds = await takeTurns(
      {
        ours: () => client.load({ ...order, requests }),
        theirs: () => client.load({ ...bareOrder, port: bare.port, requests: mostRequests }),
      },
      effort.rounds,
    );
    const ratios = rounds.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond);
    return {
      requests: [rounded(median(ratios)), rounded(Math.min(...ratios)), rounded(Math.max(...ratios))],
      p99: rounded(median(rounds.map(({ ours, theirs }) => ours.p99 / theirs.p99))),
      first: rounded(median(firsts)),
      memory: [idle, served.memory()],
    };
  } finally {
    await Promise.all([client.stop(), served.stop(), bare.stop()]);
  }
}

const rounded = (ratio: number) => Number(ratio.toPrecision(3));

function startBare(bundle: Bundle, { exchanges: [first] }: Job) {
  const { body } = first as Exchange;
  const headers = [
    ...["Content-Type", "application/json", "X-Request-Id", "req_0123456789abcdef01234567"],
    ...["Content-Length", String(Buffer.byteLength(body))],
  ];
  return startServer(bundle.server, process.execPath, { headers, body });
}

async function orderOf({ exchanges }: Job, port: number): Promise<ClientOrder> {
  // 1 or 4: no factor in common with 15, so that the sample has every state of a key.
  const step = Math.ceil(exchanges.length / checkedKeys);
  const responses: Response[] = [];
  for (const exchange of exchanges.filter((_, index) => index % step === 0)) {
    const response = await ask(exchange, port);
    const fault = faultOf(exchange, response);
    if (fault !== undefined) throw new Error(`wrong response to the key ${exchange.ref}: ${fault}`);
    if (response.closes) throw new Error("closes the connection after each response");
    responses.push(response);
  }
  const all = mixed(exchanges);
  return {
    ...{ port, connections, requests: 0 },
    keys: all.map(({ key }) => key),
    statuses: all.map(({ status }) => status),
    closing: closingOf(responses),
  };
}

export function closingOf(responses: readonly Pick<Response, "body" | "isChunked">[]): string {
  if (responses.every(({ isChunked }) => isChunked)) return "0\r\n\r\n";
  const [first = "", ...others] = responses.map(({ body }) => body);
  let length = 0;
  while (length < 8 && others.every((body) => body.endsWith(first.slice(-length - 1)))) length += 1;
  return first.slice(first.length - length);
}

/** Loads a peer until it gets no faster; returns its requests per second. */
async function warmUp(client: ClientChild, order: ClientOrder): Promise<number> {
  const started = performance.now();
  let best = 0;
  for (let rest = 0; performance.now() - started < effort.longestWarmUp && rest < roundsOfRest; ) {
    const { perSecond } = await client.load({ ...order, requests: requestsFor(best) });
    rest = perSecond > best * 1.05 ? 0 : rest + 1;
    best = Math.max(best, perSecond);
  }
  return best;
}

function requestsFor(perSecond: number): number {
  return Math.min(mostRequests, Math.max(fewestRequests, Math.round((perSecond * effort.round) / 1000)));
}
