import { setMaxListeners } from "node:events";
import { requestJson } from "../../api/request-details.js";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "../../node/platform.js";
import { stepData } from "../../node/step-data.js";
import { snakeCase } from "../../rules/schema/json.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import type { HistoryEvent } from "../../sandbox/steps.js";
import { instanceTraffic } from "../../store/instances.js";
import type { Store } from "../../store/store.js";
import { type Server, unreadiness } from "../sockets/server-state.js";
import { HttpRejection } from "./rejections.js";
import type { LocalContext, RouteContext } from "./route.js";

const maxSubscribers = 100;
/** Unread bytes until a subscriber is disconnected; it can resume. */
const maxUnread = 1024 * 1024;
/** After two missing heartbeats, the dashboard shows that the server hangs. */
const heartbeat = 5_000;

/** Events are sent in batches, after this many milliseconds or events. More batches of a flood would keep the dashboard busy. */
const batchTime = 100;
/** Less than the history keeps. */
const maxInBatch = 500;

/** A batch with more requests leaves them out. Nobody reads more, and an event takes a sixth of the time of a request. */
const maxRequests = 100;

interface Broadcast {
  readonly history: SandboxState["history"];
  /** The id of an event minus its position, and the id before the first. */
  readonly offset: number;
  readonly from: number;
  readonly subscribers: Set<(bytes: Buffer) => void>;
  /** The id of the last event that was sent. */
  sent: number;
  timer?: NodeJS.Timeout | undefined;
  heartbeats?: NodeJS.Timeout;
  watch?: NodeJS.Timeout;
  readonly states: Map<string, string>;
}

const broadcasts = new WeakMap<SandboxState, Broadcast>();

function broadcastOf(sandbox: SandboxState, { firstEvent }: Store): Broadcast {
  const found = broadcasts.get(sandbox);
  if (found !== undefined) return found;
  const { history } = sandbox;
  const from = firstEvent();
  const offset = from - history.latest();
  const subscribers: Broadcast["subscribers"] = new Set();
  const broadcast: Broadcast = { history, offset, from, subscribers, sent: from, states: new Map() };
  broadcasts.set(sandbox, broadcast);
  // This runs for each request of a flood.
  history.subscribe((_entry, position) => {
    if (subscribers.size === 0) return;
    broadcast.timer ??= setTimeout(() => flush(broadcast), batchTime).unref();
    if (position + offset - broadcast.sent >= maxInBatch) flush(broadcast);
  });
  return broadcast;
}

export function subscribersOf(sandbox: SandboxState): number {
  return broadcasts.get(sandbox)?.subscribers.size ?? 0;
}

function flush(broadcast: Broadcast): void {
  const { sent, timer, subscribers } = broadcast;
  clearTimeout(timer);
  Object.assign(broadcast, { timer: undefined, sent: latestId(broadcast) });
  const text = subscribers.size === 0 ? "" : textSince(broadcast, sent, maxRequests);
  if (text !== "") send(broadcast, text);
}

// Serialized once for all subscribers.
function send({ subscribers }: Broadcast, text: string): void {
  const bytes = Buffer.from(text);
  for (const subscriber of subscribers) subscriber(bytes);
}

function latestId({ history, offset }: Broadcast): number {
  return history.latest() + offset;
}

function lostText(broadcast: Broadcast, last: number): string {
  return `id: ${latestId(broadcast)}\nevent: events.lost\ndata: {"last_event_id":${last}}\n\n`;
}

// The events after an id; without its requests if there are more than `max`.
function textSince(broadcast: Broadcast, last: number, max = Number.POSITIVE_INFINITY): string {
  const { history, offset, from } = broadcast;
  const found = last < from ? undefined : history.since(last - offset);
  if (found === undefined) return lostText(broadcast, last);
  const all = found.filter(({ entry }) => entry.type !== "request" || !entry.exchange.isProbe);
  const others = all.filter(({ entry }) => entry.type !== "request");
  const isFlood = all.length - others.length > max;
  const blocks = (isFlood ? others : all).map(
    ({ position, entry }) =>
      `id: ${position + offset}\nevent: ${entry.type}\ndata: ${JSON.stringify(dataOf(entry))}\n\n`,
  );
  return blocks.join("") + (isFlood ? lostText(broadcast, last) : "");
}

/** After this many milliseconds, a change of the store or of instances is sent. */
const watchTime = 250;

/** The states that no event of the sandbox changes: why the server is not ready and, for its own page, the traffic of instances. */
function statesOf(server: Server, isOwn: boolean): ReadonlyMap<string, string> {
  const { instances } = server.store;
  const store = ["store.changed", JSON.stringify({ problem: unreadiness(server) ?? null })] as const;
  if (!isOwn) return new Map([store]);
  const counts = { instances: instances.count(), ...instanceTraffic(instances) };
  return new Map([store, ["instances.changed", JSON.stringify(counts)]]);
}

const stateText = (changed: Iterable<readonly [event: string, data: string]>) =>
  [...changed].map(([event, data]) => `event: ${event}\ndata: ${data}\n\n`).join("");

function watchStates(broadcast: Broadcast, next: ReadonlyMap<string, string>): void {
  const changed = [...next].filter(([event, data]) => broadcast.states.get(event) !== data);
  for (const [event, data] of changed) broadcast.states.set(event, data);
  if (changed.length > 0) send(broadcast, stateText(changed));
}

// Adds a subscriber to all later events; returns a function that removes it.
function join(
  broadcast: Broadcast,
  subscriber: (bytes: Buffer) => void,
  states: () => ReadonlyMap<string, string>,
): () => void {
  const { subscribers } = broadcast;
  flush(broadcast);
  watchStates(broadcast, states());
  if (subscribers.size === 0) {
    broadcast.watch = setInterval(() => watchStates(broadcast, states()), watchTime).unref();
    broadcast.heartbeats = setInterval(() => send(broadcast, ": still here\n\n"), heartbeat).unref();
  }
  subscribers.add(subscriber);
  return () => {
    if (!subscribers.delete(subscriber) || subscribers.size > 0) return;
    clearInterval(broadcast.heartbeats);
    clearInterval(broadcast.watch);
  };
}

/** Disconnects a subscriber that does not read; it can resume. Ends when the server or the instance is `gone`. */
export function streamEvents(
  { sandbox }: RouteContext,
  { request, response, server, instance, gone }: LocalContext,
): void {
  if (subscribersOf(sandbox) >= maxSubscribers) {
    const why = `${maxSubscribers} clients read these events already. Close one of them.`;
    throw new HttpRejection("too_many_event_streams", why);
  }
  response.writeHead(200, {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    Connection: "keep-alive",
    // Otherwise proxies such as nginx would delay events until its buffer is full.
    "X-Accel-Buffering": "no",
  });
  // HEAD gets no body, and a removed instance has no more events.
  if (request.method === "HEAD" || gone.aborted) {
    response.end();
    return;
  }
  const broadcast = broadcastOf(sandbox, server.store);
  const receive = (bytes: Buffer) => {
    response.write(bytes);
    if (response.writableLength <= maxUnread) return;
    stop();
    response.destroy();
  };
  const leave = join(broadcast, receive, () => statesOf(server, instance === undefined));
  const last = request.get("last-event-id") ?? "";
  const missed = /^\d{1,15}$/.test(last) ? textSince(broadcast, Number(last)) : "";
  // A page that is ready has nothing to hear.
  const problem = unreadiness(server);
  const state = problem === undefined ? "" : stateText([["store.changed", JSON.stringify({ problem })]]);
  response.write(`retry: 1000\n\n${missed}${state}`);
  // Immediately, not when the connection has closed: writing to an ended stream is an error.
  const stop = () => {
    gone.removeEventListener("abort", end);
    leave();
  };
  const end = () => {
    flush(broadcast);
    stop();
    response.end();
  };
  // Node warns of a leak above ten listeners, and a connection can have many streams in turn.
  setMaxListeners(0, gone, request.socket);
  gone.addEventListener("abort", end);
  // A response that waits for earlier ones gets no event when the connection closes.
  request.socket.once("close", stop);
}

function dataOf(event: HistoryEvent): unknown {
  if (event.type === "request") return requestJson(event.exchange);
  if (event.type === "timeline.step" || event.type === "story.step") return stepData(event);
  if (event.type === "record.changed") return { collection: event.change.collection };
  const { type: _, ...data } = event;
  return snakeCase(data);
}
