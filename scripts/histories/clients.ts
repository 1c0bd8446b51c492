import { setTimeout as sleep } from "node:timers/promises";
import { pick, type RandomStream, randomStream } from "../../src/rules/seed.js";
import { below } from "../../test/support/hostile-requests.js";
import type { Seen } from "./linearize.js";
import { kindOf, type Operation } from "./model.js";
import { checkRecords, writeRecords } from "./records.js";
import { ask, type Known, type Response, type Server } from "./servers.js";

/** What the clients of a history share. */
export interface History {
  readonly servers: readonly Server[];
  /** The longest pause of a client after an operation, in milliseconds. */
  readonly rest: number;
  readonly instance: string;
  /** Of the instance, for the control plane. */
  readonly authorization: string;
  readonly secrets: Map<string, string>;
  /** How many names of new keys were drawn. */
  names: number;
  /** The operations on keys, which the model knows. */
  readonly seen: Seen[];
  /** Requests for records: those with a response, and those that may have happened. */
  readonly requests: { known: number; unknown: number };
}

/** Lets clients use their own instance of the servers; returns what they did and saw. Throws what is wrong immediately. */
export async function record(seed: number, servers: readonly Server[], rest: number): Promise<History> {
  const drawOf = (client: string) => randomStream(seed, "history", client);
  const draw = drawOf("first");
  const made = await untilKnown(() => ask(pick(draw, servers), "POST /__sandbox/instances", {}, {}));
  const { id: instance, token, keys } = made.body.data;
  const authorization = `Bearer ${token}`;
  const secrets = new Map<string, string>(Object.entries(keys));
  const [seen, requests] = [[], { known: 0, unknown: 0 }];
  const history: History = { servers, rest, instance, authorization, secrets, names: 0, seen, requests };
  const clients = Array.from({ length: 4 + below(draw, 3) }, (_, index) => `client ${index}`);
  const [one, other] = await Promise.all([
    writeRecords("one", drawOf("one"), history),
    writeRecords("other", drawOf("other"), history),
    ...clients.map((client) => useKeys(client, drawOf(client), history)),
  ]);
  // Every server must have each acknowledged change.
  await checkRecords(new Map([...one, ...other]), history);
  for (const server of servers)
    while (!(await perform("reader", server, { do: "list" }, history))) await sleep(100);
  await untilKnown(() => ask(servers[0] as Server, `DELETE /__sandbox/instances/${instance}`));
  for (const server of servers) {
    const got = await untilKnown(() => ask(server, `GET /i/${instance}/v1/relying-party/me`));
    if (got.status !== 404) throw new Error(`a removed instance responded with ${JSON.stringify(got)}`);
  }
  return history;
}

/** Sends again until the outcome is known. */
export async function untilKnown(send: () => Promise<Response>): Promise<Known> {
  for (const from = performance.now(); ; await sleep(100)) {
    const got = await send();
    if (typeof got === "object") return got;
    if (performance.now() - from > 60_000) throw new Error(`for a minute, all outcomes are unknown: ${got}`);
  }
}

async function useKeys(client: string, draw: RandomStream, history: History): Promise<void> {
  const { servers, rest } = history;
  for (let left = 25 + below(draw, 10); left > 0; left -= 1) {
    const isKnown = await perform(client, pick(draw, servers), drawOperation(draw, history), history);
    if (rest > 0) await sleep((isKnown ? 0 : rest) + below(draw, rest));
  }
}

function drawOperation(draw: RandomStream, history: History): Operation {
  const known = [...history.secrets.keys()].filter((ref) => ref !== "probe" && ref !== "records");
  // Few keys get most operations, so that operations meet.
  const key = below(draw, 4) === 0 ? pick(draw, known) : pick(draw, known.slice(-3));
  const ref = () => `k${Math.floor(history.names++ / 2)}`;
  const dice = below(draw, 100);
  if (dice < 50) return { do: "request", key };
  if (dice < 64) return { do: "create", ref: ref() };
  if (dice < 72) return { do: "rotate", key, ref: ref(), minutes: pick(draw, [0, 1, 30]) };
  // Also keys whose creation is unknown, so that their organization does not stay full.
  if (dice < 82) return { do: "revoke", key: `k${below(draw, 1 + history.names / 2)}` };
  if (dice < 88) return { do: "revoke", key };
  if (dice < 93) return { do: "advance", minutes: pick(draw, [1, 10]) };
  return { do: "list" };
}

/** Does one operation and records it; resolves to whether its outcome is known. */
async function perform(client: string, server: Server, operation: Operation, history: History) {
  const { servers, instance, authorization, secrets, seen } = history;
  const { call, shown = () => "" } = kindOf(operation);
  const [route, body] = call({ key: "", ref: "", minutes: 0, ...operation });
  const isRequest = operation.do === "request";
  const headers = isRequest ? { "x-api-key": secrets.get(operation.key ?? "") ?? "" } : { authorization };
  const path = route.replace(" ", ` /i/${instance}${isRequest ? "" : "/__sandbox"}`);
  const sent = performance.now();
  const got = await ask(server, path, headers, body);
  if (got === "never") return false;
  const entry = { client, server: servers.indexOf(server), operation, sent };
  if (typeof got === "string") {
    seen.push({ ...entry, responded: Number.POSITIVE_INFINITY, outcome: undefined, reason: got });
    return false;
  }
  const { data, error } = got.body;
  const outcome = `${got.status} ${got.status >= 400 ? error.code : shown(data)}`.trim();
  seen.push({ ...entry, responded: performance.now(), outcome });
  if (data?.secret !== undefined) secrets.set(data.key.ref, data.secret);
  return true;
}
