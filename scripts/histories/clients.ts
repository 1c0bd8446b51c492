import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { pick, type RandomStream, randomStream } from "../../src/domain/seed.js";
import { exchange } from "../../test/support/exchange.js";
import { below } from "../../test/support/hostile-requests.js";
import type { History, Seen } from "./linearize.js";
import { type Answer, limitOfNew, listOf, newRefs, type Operation, organizations } from "./model.js";
import type { Process } from "./replicas.js";

/** How long a client tries to get an instance, and its last answers; milliseconds. */
const lastPatience = 30_000;

/** What has come of a call. `never`: it has not reached a server, so it did not happen. Another text: why it is not known. */
type Outcome = { readonly status: number; readonly body: string } | string;

interface Asking {
  readonly body?: object;
  readonly key?: string;
  /** Default: 5000 ms. */
  readonly timeout?: number;
  /** Default: a connection of its own. */
  readonly agent?: Agent;
}

/** Sends a call to one of the replicas. */
export async function ask(
  { url }: Process,
  call: string,
  { body, key, timeout = 5000, agent }: Asking = {},
): Promise<Outcome> {
  const [method = "", path = ""] = call.split(" ");
  const headers = {
    ...(body !== undefined && { "content-type": "application/json" }),
    ...(key !== undefined && { "x-api-key": key }),
  };
  const sent = {
    ...{ method, headers },
    ...(agent !== undefined && { agent }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  try {
    const got = await exchange(`${url}${path}`, { ...sent, signal: AbortSignal.timeout(timeout) });
    // The store was away: what was appended may be there nevertheless.
    const body = String(got.bytes);
    return got.status === 503 ? `503 ${body}` : { status: got.status, body };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return code === "ECONNREFUSED" ? "never" : message;
  }
}

/** How a history is recorded. */
export interface Recording {
  readonly seed: number;
  readonly number: number;
  readonly replicas: readonly Process[];
  /** The most milliseconds for which a client rests behind an operation. */
  readonly rest: number;
  /** How many milliseconds it waits for an answer. */
  readonly patience: number;
}

/** What all clients of a history know. */
interface Shared {
  readonly instance: string;
  /** Used for this history alone: an old connection may be closed just when something is sent on it. */
  readonly agent: Agent;
  readonly patience: number;
  readonly secrets: Map<string, string>;
  readonly seen: Seen[];
}

/** Lets four to six clients use a sandbox of their own, and returns what they saw. */
export async function record(recording: Recording): Promise<History> {
  const { seed, number, replicas, patience } = recording;
  const draw = randomStream(seed, "history", String(number));
  const { id, keys } = await makeInstance(replicas, draw, patience);
  const agent = new Agent({ keepAlive: true });
  const shared: Shared = { instance: id, agent, patience, secrets: new Map(Object.entries(keys)), seen: [] };
  const names = Array.from({ length: 4 + below(draw, 3) }, (_, index) => `client ${index}`);
  await Promise.all(names.map((name) => useAs(name, shared, recording)));
  // What was acknowledged has to be there, whichever replica is asked.
  for (const replica of replicas) await readAtLast(replica, shared);
  agent.destroy();
  await ask(pick(draw, replicas), `DELETE /__sandbox/instances/${id}`);
  return shared.seen;
}

async function makeInstance(
  replicas: readonly Process[],
  draw: RandomStream,
  timeout: number,
): Promise<{ id: string; keys: Readonly<Record<string, string>> }> {
  for (const until = performance.now() + lastPatience; performance.now() < until; await sleep(100)) {
    const made = await ask(pick(draw, replicas), "POST /__sandbox/instances", { body: {}, timeout });
    if (typeof made === "object" && made.status === 201) return JSON.parse(made.body).data;
    if (typeof made === "object") throw new Error(`no instance was made: ${made.status} ${made.body}`);
  }
  throw new Error(`no instance was made within ${lastPatience} ms`);
}

async function useAs(
  client: string,
  shared: Shared,
  { seed, number, replicas, rest }: Recording,
): Promise<void> {
  const draw = randomStream(seed, "history", String(number), client);
  for (let left = 5 + below(draw, 4); left > 0; left -= 1) {
    const operation = drawOperation(draw, [...shared.secrets.keys()]);
    const isKnown = await perform(client, pick(draw, replicas), operation, shared);
    const pause = (isKnown ? 0 : rest) + (rest === 0 ? 0 : below(draw, rest));
    if (pause > 0) await sleep(pause);
  }
}

async function readAtLast(replica: Process, shared: Shared): Promise<void> {
  for (const until = performance.now() + lastPatience; performance.now() < until; await sleep(100)) {
    if (await perform("reader", replica, { do: "list" }, shared)) return;
  }
  throw new Error(`replica ${replica.index} did not list the keys within ${lastPatience} ms`);
}

/** Does one operation and records it; resolves to whether its outcome is known. */
async function perform(
  client: string,
  replica: Process,
  operation: Operation,
  { instance, agent, patience, secrets, seen }: Shared,
): Promise<boolean> {
  const [call, options] = callOf(operation, secrets);
  const sent = performance.now();
  const outcome = await ask(replica, call.replace(" ", ` /i/${instance}`), {
    ...options,
    agent,
    timeout: patience,
  });
  const answered = performance.now();
  if (outcome === "never") return false;
  const of = { client, replica: replica.index, operation, sent };
  if (typeof outcome === "string") {
    seen.push({ ...of, answered: Number.POSITIVE_INFINITY, answer: undefined, reason: outcome });
    return false;
  }
  const { data, error } = JSON.parse(outcome.body);
  const answer =
    outcome.status >= 400 ? `${outcome.status} ${error.code}` : answerOf(operation, outcome, data);
  seen.push({ ...of, answered, answer });
  if (data?.secret !== undefined) secrets.set(data.key.ref, data.secret);
  return true;
}

function drawOperation(draw: RandomStream, known: readonly string[]): Operation {
  // Few keys get most of it, so that operations meet.
  const key = below(draw, 2) === 0 ? pick(draw, ["a", "b"]) : pick(draw, known.filter(isInModel));
  const made = pick(draw, newRefs);
  const dice = below(draw, 100);
  if (dice < 50) return { do: "request", key };
  if (dice < 60) return { do: "create", ref: made, organization: pick(draw, organizations) };
  if (dice < 68) return { do: "rotate", key, as: made, overlap: pick(draw, [0, 1, 30]) };
  if (dice < 76) return { do: "revoke", key };
  if (dice < 82) return { do: "organization", ref: pick(draw, organizations), active: below(draw, 3) > 0 };
  if (dice < 86) return { do: "advance", by: pick(draw, [1, 10]) };
  if (dice < 94) return { do: "read", key: pick(draw, [key, made]) };
  return { do: "list" };
}

const isInModel = (ref: string) => ref !== "probe";

function callOf(operation: Operation, secrets: ReadonlyMap<string, string>): [call: string, options: Asking] {
  switch (operation.do) {
    case "request":
      return ["GET /v1/relying-party/me", { key: secrets.get(operation.key) as string }];
    case "create": {
      const { ref, organization } = operation;
      const limits = { per_minute: limitOfNew, per_day: 1000 };
      const body = { ref, organization, environment: "test", name: `Key ${ref}`, limits };
      return ["POST /__sandbox/keys", { body }];
    }
    case "rotate": {
      const { key, as, overlap } = operation;
      return [`POST /__sandbox/keys/${key}/rotate`, { body: { as, overlap_minutes: overlap } }];
    }
    case "revoke":
      return [`POST /__sandbox/keys/${operation.key}/revoke`, { body: {} }];
    case "organization": {
      const body = { status: operation.active ? "active" : "inactive" };
      return [`PATCH /__sandbox/organizations/${operation.ref}`, { body }];
    }
    case "advance":
      return ["POST /__sandbox/clock/advance", { body: { by: `${operation.by}m` } }];
    case "read":
      return [`GET /__sandbox/keys/${operation.key}`, {}];
    case "list":
      return ["GET /__sandbox/keys", {}];
  }
}

interface ToldKey {
  readonly ref: string;
  readonly state: string;
  readonly usage: { readonly this_minute: number; readonly today: number };
}

const shown = ({ state, usage }: ToldKey) => `${state} ${usage.this_minute}/${usage.today}`;

// biome-ignore lint/suspicious/noExplicitAny: what is read of it is there when the status says so
function answerOf({ do: what }: Operation, { status }: { status: number }, data: any): Answer {
  if (what === "request") return `${status} today ${data.usage.today}`;
  if (what === "organization") return `${status} ${data.status}`;
  if (what === "advance") return `${status} ${data.now}`;
  if (what === "read") return `${status} ${shown(data)}`;
  if (what !== "list") return String(status);
  const keys = (data as readonly ToldKey[]).filter(({ ref }) => isInModel(ref));
  return `${status} ${listOf(keys.map((key) => [key.ref, shown(key)]))}`;
}
