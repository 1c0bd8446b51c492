import { setMaxListeners } from "node:events";
import { requestLine } from "../api/request-line.js";
import { mostKept } from "../history/history.js";
import type { EventIds } from "../log/event-ids.js";
import type { Log } from "../log/log.js";
import { clearInterval, clearTimeout, nodePlatform, setInterval, setTimeout } from "../node/platform.js";
import { stepData } from "../node/step-data.js";
import { snakeCase } from "../schema/spelling.js";
import type { WorldEvent } from "../world/events.js";
import type { Runtime } from "../world/runtime.js";
import type { LocalContext, RouteContext } from "./route.js";

/** The bytes a subscriber may be behind before it is disconnected; it can resume. */
const mostUnread = 1024 * 1024;
/** The dashboard takes two that are late for a server that hangs. */
const heartbeat = 5_000;

/** Events are sent in batches: after so many milliseconds, or as soon as there are so many. */
const batchTime = 20;
const mostInBatch = 500;

/**
 * So many requests at once are logged one by one, and so many a second in the long run, allowed for in steps of so many
 * milliseconds: nobody reads more, and to log them would take longer than to answer them.
 */
const mostAtOnce = 1000;
const mostPerSecond = 200;
const floodTime = 500;

type Broadcast = ReturnType<typeof createBroadcast>;

const broadcasts = new WeakMap<Runtime, Broadcast>();

// Made for the first subscriber.
function broadcastOf(runtime: Runtime, { eventIds }: Log): Broadcast {
  const broadcast = broadcasts.get(runtime) ?? createBroadcast(runtime, eventIds(runtime));
  broadcasts.set(runtime, broadcast);
  return broadcast;
}

/** The number of those who follow the events of a runtime now. */
export function subscribersOf(runtime: Runtime): number {
  return broadcasts.get(runtime)?.subscribers() ?? 0;
}

// Sends the events of one runtime to all its subscribers; a batch is put into words once.
function createBroadcast({ history }: Runtime, { offset, from, earlier }: EventIds) {
  const latestId = () => history.latest() + offset;
  const mayLog = createAllowance();
  // The ids of requests that are not logged one by one.
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
  // Before a flood pushes out of the history what is due, or the last request that was sent.
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
    /** The events after an id, as they are sent. */
    textSince,
    /** Sends what is due. */
    flush,
    subscribers: () => subscribers.size,
    /** Sends everything from now on to this subscriber as well; returns how to leave. */
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

// Whether a request is logged by itself; asked for each.
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
 * Answers with server-sent events: everything that happens in the runtime from now on, or, with `Last-Event-ID`, from
 * there on. `events.lost` stands for those that are forgotten, and of the requests of a flood.
 *
 * A subscriber that does not read is disconnected rather than waited for; it can resume. The stream ends when the
 * server or the instance is `gone`.
 */
export function streamEvents(
  { runtime }: RouteContext,
  { request, response, server, gone }: LocalContext,
): void {
  response.writeHead(200, {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    Connection: "keep-alive",
    // nginx would hold events back until its buffer is full.
    "X-Accel-Buffering": "no",
  });
  // HEAD gets no body, and nothing happens any more in what is gone.
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
  // At once, not when the connection has closed: writing to an ended stream is an error.
  const stop = () => {
    gone.removeEventListener("abort", end);
    leave();
  };
  const end = () => {
    flush();
    stop();
    response.end();
  };
  // Node warns of a leak at more than ten listeners, and a connection can hold many streams, one behind the other.
  setMaxListeners(0, gone, request.socket);
  gone.addEventListener("abort", end);
  // A response that waits for its turn on the connection does not hear when that closes.
  request.socket.once("close", stop);
}

function lostText(id: number, last: number): string {
  return `id: ${id}\nevent: events.lost\ndata: {"last_event_id":${last}}\n\n`;
}

function dataOf(event: WorldEvent): unknown {
  if (event.type === "request") return requestLine(event.exchange);
  if (event.type === "timeline.step" || event.type === "story.step") return stepData(event);
  const { type: _, ...data } = event;
  return snakeCase(data);
}
