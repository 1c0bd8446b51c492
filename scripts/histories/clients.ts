import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { pick, type RandomStream, randomStream } from "../../src/spec/seed.js";
import { exchange } from "../../test/support/exchange.js";
import { below } from "../../test/support/hostile-requests.js";
import type { History, Seen } from "./linearize.js";
import { limitOfNew, listOf, newRefs, type Operation, organizations } from "./model.js";
import type { Process } from "./replicas.js";

/** How long a client tries to get an instance, and its last responses; milliseconds. */
const lastPatience = 30_000;

/** The response to a call. `never`: it did not reach a server, so nothing happened. Another text: why it is unknown. */
type Response = { readonly status: number; readonly body: string } | string;

interface Asking {
  readonly body?: object;
  readonly key?: string;
  /** The token of an instance. */
  readonly token?: string;
  /** Default: 5000 ms. */
  readonly timeout?: number;
  /** Default: its own connection. */
  readonly agent?: Agent;
}

/** Sends a call to one of the replicas. */
export async function ask(
  { url, checkPromptness }: Process,
  call: string,
  { body, key, token, timeout = 5000, agent }: Asking = {},
): Promise<Response> {
  const [method = "", path = ""] = call.split(" ");
  const headers = {
    ...(body !== undefined && { "content-type": "application/json" }),
    ...(key !== undefined && { "x-api-key": key }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const options = {
    ...{ method, headers, signal: AbortSignal.timeout(timeout) },
    ...(agent !== undefined && { agent }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  const sent = performance.now();
  try {
    const { status, bytes } = await exchange(`${url}${path}`, options);
    // The store did not respond, but may have stored the operation.
    return status === 503 ? `503 ${bytes}` : { status, body: String(bytes) };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return code === "ECONNREFUSED" ? "never" : message;
  } finally {
    checkPromptness(call, sent);
  }
}

export interface Recording {
  readonly seed: number;
  readonly number: number;
  readonly replicas: readonly Process[];
  /** The longest pause of a client after an operation, in milliseconds. */
  readonly rest: number;
  /** How long a client waits for a response, in milliseconds. */
  readonly timeouts: number;
}

interface Shared extends Recording {
  readonly instance: string;
  /** The instance's own token. */
  readonly token: string;
  /** For this history only: a server may close an old connection just as something is sent on it. */
  readonly agent: Agent;
  readonly secrets: Map<string, string>;
  readonly seen: Seen[];
}

/** Lets four to six clients use their own sandbox, and returns what they saw. */
export async function record(recording: Recording): Promise<History> {
  const { seed, number, replicas, timeouts } = recording;
  const draw = randomStream(seed, "history", String(number));
  const made = await untilKnown("no instance was made", async () => {
    const got = await ask(pick(draw, replicas), "POST /__sandbox/instances", { body: {}, timeout: timeouts });
    return typeof got === "object" && got.status === 201 && JSON.parse(got.body).data;
  });
  // From then on every replica takes the new token, and no other one.
  const token = await untilKnown("the instance was not claimed", async () => {
    const path = `POST /__sandbox/instances/${made.id}`;
    const link = await ask(pick(draw, replicas), `${path}/link`, { body: {}, timeout: timeouts });
    if (typeof link === "string" || link.status !== 201) return false;
    const code = JSON.parse(link.body).data.claim_url.replace(/^.*#code=/, "");
    const got = await ask(pick(draw, replicas), `${path}/claim`, { body: { code }, timeout: timeouts });
    return typeof got === "object" && got.status === 200 && JSON.parse(got.body).data.token;
  });
  const secrets = new Map<string, string>(Object.entries(made.keys));
  const agent = new Agent({ keepAlive: true });
  const shared: Shared = { ...recording, instance: made.id, token, agent, secrets, seen: [] };
  const names = Array.from({ length: 4 + below(draw, 3) }, (_, index) => `client ${index}`);
  await Promise.all([...names.map((name) => useAs(name, shared)), fill(shared)]);
  // Every replica must have each acknowledged change.
  for (const replica of replicas) {
    await untilKnown(`replica ${replica.index} did not check a token`, async () => {
      const got = await ask(replica, `GET /i/${made.id}/__sandbox/state`, { token: made.token });
      if (typeof got === "object" && got.status !== 401)
        throw new Error("a token that was replaced still works");
      return typeof got === "object";
    });
    const list = () => perform("reader", replica, { do: "list" }, shared);
    await untilKnown(`replica ${replica.index} did not list the keys`, list);
  }
  agent.destroy();
  const removed = await ask(pick(draw, replicas), `DELETE /__sandbox/instances/${made.id}`);
  // No replica responds for an instance once its removal is acknowledged.
  if (typeof removed === "object" && removed.status === 204) {
    const path = `GET /i/${made.id}/v1/relying-party/me`;
    const responses = await Promise.all(replicas.map((replica) => ask(replica, path, { timeout: timeouts })));
    const wrong = responses.find((one) => typeof one === "object" && one.status !== 404);
    if (wrong !== undefined) throw new Error(`a removed instance responded with ${JSON.stringify(wrong)}`);
  }
  return shared.seen;
}

async function untilKnown<Result>(problem: string, act: () => Promise<Result | false>): Promise<Result> {
  for (const until = performance.now() + lastPatience; performance.now() < until; await sleep(100)) {
    const result = await act();
    if (result !== false) return result;
  }
  throw new Error(`${problem} within ${lastPatience} ms`);
}

/** Sends long requests, so that the sandbox is compacted several times. They change nothing that the others see. */
async function fill({ seed, number, replicas, rest, instance, agent, timeouts }: Shared): Promise<void> {
  const draw = randomStream(seed, "history", String(number), "filler");
  const path = `GET /i/${instance}/v1/${"words/".repeat(600)}`;
  for (let left = 60; left > 0; left -= 1) {
    await ask(pick(draw, replicas), path, { agent, timeout: timeouts });
    if (rest > 0) await sleep(below(draw, rest / 5));
  }
}

async function useAs(client: string, shared: Shared): Promise<void> {
  const { seed, number, replicas, rest, secrets } = shared;
  const draw = randomStream(seed, "history", String(number), client);
  for (let left = 5 + below(draw, 4); left > 0; left -= 1) {
    const operation = drawOperation(draw, [...secrets.keys()]);
    const isKnown = await perform(client, pick(draw, replicas), operation, shared);
    const pause = (isKnown ? 0 : rest) + (rest === 0 ? 0 : below(draw, rest));
    if (pause > 0) await sleep(pause);
  }
}

/** Does one operation and records it; resolves to whether its outcome is known. */
async function perform(
  client: string,
  replica: Process,
  operation: Operation,
  { instance, token, agent, timeouts, secrets, seen }: Shared,
): Promise<boolean> {
  const [call, options] = callOf(operation, secrets);
  const sent = performance.now();
  const path = call.replace(" ", ` /i/${instance}`);
  const got = await ask(replica, path, { ...options, token, agent, timeout: timeouts });
  if (got === "never") return false;
  const entry = { client, replica: replica.index, operation, sent };
  if (typeof got === "string") {
    seen.push({ ...entry, responded: Number.POSITIVE_INFINITY, outcome: undefined, reason: got });
    return false;
  }
  const { data, error } = JSON.parse(got.body);
  const shown = got.status >= 400 ? error.code : shownOf(operation, data);
  seen.push({ ...entry, responded: performance.now(), outcome: `${got.status} ${shown}`.trim() });
  if (data?.secret !== undefined) secrets.set(data.key.ref, data.secret);
  return true;
}

function drawOperation(draw: RandomStream, known: readonly string[]): Operation {
  // Few keys get most operations, so that operations meet.
  const key = below(draw, 2) === 0 ? pick(draw, ["a", "b"]) : pick(draw, known.filter(isInModel));
  const made = pick(draw, newRefs);
  const dice = below(draw, 100);
  if (dice < 50) return { do: "request", key };
  if (dice < 60) return { do: "create", ref: made, organization: pick(draw, organizations) };
  if (dice < 68) return { do: "rotate", key, as: made, overlap: pick(draw, [0, 1, 30]) };
  if (dice < 76) return { do: "revoke", key };
  if (dice < 82) return { do: "organization", ref: pick(draw, organizations), active: below(draw, 3) > 0 };
  if (dice < 86) return { do: "advance", by: pick(draw, [1, 10]) };
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
      const body = { as: operation.as, overlap_minutes: operation.overlap };
      return [`POST /__sandbox/keys/${operation.key}/rotate`, { body }];
    }
    case "revoke":
      return [`POST /__sandbox/keys/${operation.key}/revoke`, { body: {} }];
    case "organization": {
      const body = { status: operation.active ? "active" : "inactive" };
      return [`PATCH /__sandbox/organizations/${operation.ref}`, { body }];
    }
    case "advance":
      return ["POST /__sandbox/clock/advance", { body: { by: `${operation.by}m` } }];
    case "list":
      return ["GET /__sandbox/keys", {}];
  }
}

interface ListedKey {
  readonly ref: string;
  readonly state: string;
  readonly usage: { readonly this_minute: number; readonly today: number };
}

// biome-ignore lint/suspicious/noExplicitAny: the members that are read exist if the operation succeeded
function shownOf({ do: what }: Operation, data: any): string {
  if (what === "request") return `today ${data.usage.today}`;
  if (what === "organization") return data.status;
  if (what === "advance") return data.now;
  if (what !== "list") return "";
  const keys = (data as readonly ListedKey[]).filter(({ ref }) => isInModel(ref));
  return listOf(keys.map(({ ref, state, usage }) => `${ref} ${state} ${usage.this_minute}/${usage.today}`));
}
