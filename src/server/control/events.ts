import { setMaxListeners } from "node:events";
import { requestJson } from "../../api/request-details.js";
import type { EventIds } from "../../log/event-ids.js";
import type { Log } from "../../log/log.js";
import { clearInterval, clearTimeout, nodePlatform, setInterval, setTimeout } from "../../node/platform.js";
import { stepData } from "../../node/step-data.js";
import type { WorldEvent } from "../../sandbox/events.js";
import { mostKept } from "../../sandbox/history/history.js";
import type { Runtime } from "../../sandbox/runtime.js";
import { snakeCase } from "../../spec/schema/spelling.js";
import { HttpRefusal } from "./refusals.js";
import type { LocalContext, RouteContext } from "./route.js";

/** The maximum number of subscribers to a runtime's events. */
const mostSubscribers = 100;
/** Unread bytes until a subscriber is disconnected; it can resume. */
const mostUnread = 1024 * 1024;
/** After two missing heartbeats, the dashboard shows that the server hangs. */
const heartbeat = 5_000;

/** Events are sent in batches, after this many milliseconds or events. */
const batchTime = 20;
const mostInBatch = 500;

/**
 * Requests that get their own event: at most this many at once, and per second in the long run, counted every `floodTime`
 * milliseconds. Nobody reads more, and their events would take longer than their responses.
 */
const mostAtOnce = 1000;
const mostPerSecond = 200;
const floodTime = 500;

type Broadcast = ReturnType<typeof createBroadcast>;

const broadcasts = new WeakMap<Runtime, Broadcast>();

// Made with the first subscriber.
function broadcastOf(runtime: Runtime, { eventIds }: Log): Broadcast {
  const broadcast = broadcasts.get(runtime) ?? createBroadcast(runtime, eventIds(runtime));
  broadcasts.set(runtime, broadcast);
  return broadcast;
}

/** Returns the number of current subscribers to a runtime's events. */
export function subscribersOf(runtime: Runtime): number {
  return broadcasts.get(runtime)?.subscribers() ?? 0;
}

// Sends the events of a runtime to all its subscribers; serializes each batch once.
function createBroadcast({ history }: Runtime, { offset, from, earlier }: EventIds) {
  const latestId = () => history.latest() + offset;
  const mayLog = createAllowance();
  // The ids of requests without their own event.
  const leftOut = new Set<number>();
  const subscribers = new Set<(bytes: Buffer) => void>();
  let sent = latestId();
  let due = 0;
  let timer: NodeJS.Timeout | undefined;
  let isSlow = false;
  let beating: NodeJS.Timeout | undefined;
  const send = (text: string) => {
    const bytes = Buffer.from(text);
    for (const subscriber of subscribers) subscriber(bytes);
  };
  const textSince = (last: number) => {
    const seen = last === earlier ? from : last;
    const events = seen < from ? undefined : history.since(seen - offset);
    if (events === undefined) return lostText(latestId(), last);
    let text = "";
    let known = seen;
    for (const { position, entry } of events) {
      const id = position + offset;
      if (leftOut.has(id)) continue;
      if (id > known + 1) text += lostText(id - 1, known);
      known = id;
      if (entry.type === "request" && entry.exchange.isProbe) continue;
      text += `id: ${id}\nevent: ${entry.type}\ndata: ${JSON.stringify(dataOf(entry))}\n\n`;
    }
    return known < latestId() ? text + lostText(latestId(), known) : text;
  };
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const text = subscribers.size === 0 ? "" : textSince(sent);
    sent = latestId();
    due = 0;
    if (text !== "") send(text);
  };
  const leaveOut = (id: number) => {
    leftOut.add(id);
    if (leftOut.size > mostKept) leftOut.delete(leftOut.values().next().value as number);
  };
  // Flushes before a flood removes due events, or the last event that was sent, from the history.
  const flushInTime = (isLogged: boolean, id: number) => {
    if ((!isLogged && due > 0) || id - sent >= mostKept) flush();
  };
  history.subscribe((event, position) => {
    const isLogged = event.type !== "request" || mayLog();
    if (!isLogged) leaveOut(position + offset);
    if (subscribers.size === 0) return;
    flushInTime(isLogged, position + offset);
    if (isLogged && isSlow) {
      clearTimeout(timer);
      timer = undefined;
    }
    if (timer === undefined) {
      isSlow = !isLogged;
      timer = setTimeout(flush, isLogged ? batchTime : floodTime).unref();
    }
    if (!isLogged) return;
    due += 1;
    if (due === mostInBatch) flush();
  });
  return {
    /** Returns the events after an id, serialized. */
    textSince,
    /** Sends due events. */
    flush,
    subscribers: () => subscribers.size,
    /** Adds a subscriber to all later events; returns a function that removes it. */
    join(subscriber: (bytes: Buffer) => void): () => void {
      flush();
      if (subscribers.size === 0) {
        beating = setInterval(() => send(": still here\n\n"), heartbeat).unref();
      }
      subscribers.add(subscriber);
      return () => {
        if (subscribers.delete(subscriber) && subscribers.size === 0) clearInterval(beating);
      };
    },
  };
}

// Returns a function, called for each request, that decides whether it gets its own event.
function createAllowance(): () => boolean {
  let left = mostAtOnce;
  let since = nodePlatform.stopwatch();
  return () => {
    if (left === 0) {
      const now = nodePlatform.stopwatch();
      if (now - since < floodTime) return false;
      left = Math.min(mostAtOnce, Math.floor(((now - since) * mostPerSecond) / 1000));
      since = now;
    }
    left -= 1;
    return true;
  };
}

/**
 * Responds with server-sent events of the runtime, starting now or after `Last-Event-ID`. `events.lost` replaces events that
 * are no longer kept, and the requests of a flood.
 *
 * Disconnects a subscriber that does not read; it can resume. The stream ends when the server or the instance is `gone`.
 */
export function streamEvents(
  { runtime }: RouteContext,
  { request, response, server, gone }: LocalContext,
): void {
  if (subscribersOf(runtime) >= mostSubscribers) {
    const why = `${mostSubscribers} clients read these events already. Close one of them.`;
    throw new HttpRefusal("too_many_event_streams", why);
  }
  response.writeHead(200, {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    Connection: "keep-alive",
    // Otherwise nginx would delay events until its buffer is full.
    "X-Accel-Buffering": "no",
  });
  // HEAD gets no body, and a removed instance has no more events.
  if (request.method === "HEAD" || gone.aborted) {
    response.end();
    return;
  }
  const { textSince, flush, join } = broadcastOf(runtime, server.log);
  const leave = join((bytes) => {
    response.write(bytes);
    if (response.writableLength <= mostUnread) return;
    stop();
    response.destroy();
  });
  const last = request.get("last-event-id") ?? "";
  const missed = /^\d{1,15}$/.test(last) ? textSince(Number(last)) : "";
  response.write(`retry: 1000\n\n${missed}`);
  // Immediately, not when the connection has closed: writing to an ended stream is an error.
  const stop = () => {
    gone.removeEventListener("abort", end);
    leave();
  };
  const end = () => {
    flush();
    stop();
    response.end();
  };
  // Node warns of a leak above ten listeners, and a connection can have many streams in turn.
  setMaxListeners(0, gone, request.socket);
  gone.addEventListener("abort", end);
  // A response that waits for earlier ones gets no event when the connection closes.
  request.socket.once("close", stop);
}

function lostText(id: number, last: number): string {
  return `id: ${id}\nevent: events.lost\ndata: {"last_event_id":${last}}\n\n`;
}

function dataOf(event: WorldEvent): unknown {
  if (event.type === "request") return requestJson(event.exchange);
  if (event.type === "timeline.step" || event.type === "story.step") return stepData(event);
  const { type: _, ...data } = event;
  return snakeCase(data);
}
