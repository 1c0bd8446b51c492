import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Bundle } from "../bundle.js";
import { type ClientChild, childEnvironment, startClient, startServer } from "../children.js";
import type { ClientOrder } from "../messages.js";
import { connections, takeTurns } from "../rounds.js";
import { type Exchange, faultOf, type Job, mixed } from "./job.js";
import type { Peer } from "./peer.js";
import { type Reading, spreadOf } from "./results.js";
import { type Answer, ask, serve } from "./serve.js";

/** How long to measure one peer with one number of keys. */
export interface Effort {
  readonly rounds: number;
  readonly starts: number;
  /** Milliseconds of load before the rounds, at most. */
  readonly longestWarmUp: number;
  /** Milliseconds that a round on one server is to take. */
  readonly round: number;
}

export const fullEffort: Effort = { rounds: 9, starts: 5, longestWarmUp: 15_000, round: 600 };
export const quickEffort: Effort = { rounds: 2, starts: 1, longestWarmUp: 1000, round: 200 };

/** How many keys are asked for before the load, to see whether their answers are right. */
const checkedKeys = 300;
/** How many rounds of the warm-up have to bring nothing before it ends: a compiler may rest in between. */
const roundsOfRest = 5;
const fewestRequests = 100;
const mostRequests = 30_000;

/** Measures a peer with a job, beside a bare `node:http` server that sends what the sandbox sends. Throws what is wrong with it. */
export async function measure(
  peer: Peer,
  job: Job,
  { bundle, node, effort }: { readonly bundle: Bundle; readonly node: string; readonly effort: Effort },
): Promise<Reading> {
  const firstAnswers: number[] = [];
  // The first start fills the caches of the system and of Node, and is left out.
  for (let start = 0; start < effort.starts; start++) {
    const served = await serve(peer, job, node);
    await served.stop();
    const empty = await timeOfNothing(node);
    if (start > 0 || effort.starts === 1) firstAnswers.push(served.firstAnswer / empty);
  }
  const served = await serve(peer, job, node);
  const client = startClient(bundle.client);
  const bare = await startBare(bundle, node, job);
  try {
    const idle = served.memory();
    const order = await orderOf(peer, job, served.port);
    const load = (requests: number, of: ClientOrder) => client.load({ ...of, requests });
    const perSecond = await warmUp(client, order, effort);
    const rounds = await takeTurns(
      {
        ours: () => load(requestsFor(perSecond, effort), order),
        theirs: () => load(mostRequests, { ...bareOrder(job), port: bare.port }),
      },
      effort.rounds,
    );
    return {
      requests: spreadOf(rounds.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond)),
      p99: spreadOf(rounds.map(({ ours, theirs }) => ours.p99 / theirs.p99)),
      firstAnswer: spreadOf(firstAnswers),
      memory: { idle, after: served.memory() },
    };
  } finally {
    await Promise.all([client.stop(), served.stop(), bare.stop()]);
  }
}

async function timeOfNothing(node: string): Promise<number> {
  const started = performance.now();
  await once(spawn(node, ["-e", "0"], { env: childEnvironment(), stdio: "ignore" }), "exit");
  return performance.now() - started;
}

function startBare(bundle: Bundle, node: string, { exchanges }: Job) {
  const { body } = exchanges[0] as Exchange;
  const headers = [
    ...["Content-Type", "application/json", "X-Request-Id", "req_0123456789abcdef01234567"],
    ...["Content-Length", String(Buffer.byteLength(body))],
  ];
  return startServer(bundle.server, node, { kind: "bare", headers, body });
}

function bareOrder({ exchanges }: Job): ClientOrder {
  return { port: 0, connections, keys: mixed(exchanges).map(({ key }) => key), requests: 0 };
}

/** What the client is to send and to expect, from the answers to a sample of the keys. Throws when one of them is wrong. */
async function orderOf(peer: Peer, { exchanges }: Job, port: number): Promise<ClientOrder> {
  // 1, 4 and 34: none of them has a factor in common with 15, so that the sample meets every state of a key.
  const step = Math.ceil(exchanges.length / checkedKeys);
  const answers: Answer[] = [];
  for (let index = 0; index < exchanges.length; index += step) {
    const exchange = exchanges[index] as Exchange;
    const answer = await ask(peer, exchange, port);
    const fault = faultOf(exchange, answer);
    if (fault !== undefined) throw new Error(`wrong answer to the key ${exchange.ref}: ${fault}`);
    if (answer.closes) throw new Error("closes the connection after each answer");
    answers.push(answer);
  }
  const all = mixed(exchanges);
  return {
    ...{ port, connections, requests: 0 },
    keys: all.map(({ key }) => key),
    statuses: all.map(({ status }) => status),
    headerLines: peer.headerLine && all.map(peer.headerLine),
    closing: closingOf(answers),
  };
}

/** The bytes with which all the answers end on the wire: those after the last chunk, or what the bodies have in common. */
export function closingOf(answers: readonly Pick<Answer, "body" | "isChunked">[]): string {
  if (answers.every(({ isChunked }) => isChunked)) return "0\r\n\r\n";
  const [first = "", ...others] = answers.map(({ body }) => body);
  let length = 0;
  while (length < 8 && others.every((body) => body.endsWith(first.slice(-length - 1)))) length += 1;
  return first.slice(first.length - length);
}

/** Loads a peer until it gets no faster, and returns how many requests a second it answered then. */
async function warmUp(client: ClientChild, order: ClientOrder, effort: Effort): Promise<number> {
  const started = performance.now();
  let best = 0;
  let unimproved = 0;
  while (performance.now() - started < effort.longestWarmUp && unimproved < roundsOfRest) {
    const requests = requestsFor(best, effort);
    const { perSecond } = await client.load({ ...order, requests });
    unimproved = perSecond > best * 1.05 ? 0 : unimproved + 1;
    best = Math.max(best, perSecond);
  }
  return best;
}

function requestsFor(perSecond: number, { round }: Effort): number {
  const requests = Math.round((perSecond * round) / 1000);
  return Math.min(mostRequests, Math.max(fewestRequests, requests));
}
