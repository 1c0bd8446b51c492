import { setMaxListeners } from "node:events";
import { requestLine, snakeCase } from "../../api/snake-case.js";
import { createEventLog, type EventLog, type WorldEvent } from "../../sandbox/events.js";
import type { Runtime } from "../../sandbox/runtime.js";
import { clearInterval, clearTimeout, nodePlatform, setInterval, setTimeout } from "../platform.js";
import { pollTimeline } from "../poll-timeline.js";
import { stepData } from "../step-data.js";
import type { LocalContext, RouteContext } from "./routes/route.js";

/** The bytes a subscriber may be behind before it is disconnected; it can resume. */
const mostUnread = 1024 * 1024;
const heartbeat = 15_000;

/** Events are sent in batches: after so many milliseconds, or as soon as there are so many. */
const batchTime = 20;
const mostInBatch = 500;

/**
 * So many requests at once are told one by one, and so many a second in the long run, allowed for in steps of so many
 * milliseconds: more are read by none, and to tell them would take longer than to answer them.
 */
const mostAtOnce = 1000;
const mostPerSecond = 200;
const floodTime = 500;

/** Sends the events of one runtime to all its subscribers; a batch is put into words once. */
interface Broadcast {
  readonly log: EventLog;
  /** Sends what is due. */
  readonly flush: () => void;
  readonly subscribers: () => number;
  /** Sends everything from now on to this subscriber as well; returns how to leave. */
  readonly join: (subscriber: (bytes: Buffer) => void) => () => void;
}

const broadcasts = new WeakMap<Runtime, Broadcast>();

// Made for the first subscriber: a server without one keeps no log.
function broadcastOf(runtime: Runtime, isReplica: boolean): Broadcast {
  const broadcast = broadcasts.get(runtime) ?? createBroadcast(runtime, isReplica ? distantId() : 0);
  broadcasts.set(runtime, broadcast);
  return broadcast;
}

/** The number of those who follow the events of a runtime now. */
export function subscribersOf(runtime: Runtime): number {
  return broadcasts.get(runtime)?.subscribers() ?? 0;
}

// Each replica counts its own events: an id of another one has to be unknown here, so that its client is told of a gap.
function distantId(): number {
  return (1 + (nodePlatform.random() % 900_000)) * 1e9;
}

function createBroadcast(runtime: Runtime, from: number): Broadcast {
  const log = createEventLog(runtime, { from, mayTell: createAllowance() });
  const subscribers = new Set<(bytes: Buffer) => void>();
  let sent = from;
  let due = 0;
  let timer: NodeJS.Timeout | undefined;
  let isSlow = false;
  let rest = () => {};
  const send = (text: string) => {
    const bytes = Buffer.from(text);
    for (const subscriber of subscribers) subscriber(bytes);
  };
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const text = subscribers.size === 0 ? "" : textSince(sent, log);
    sent = log.latest();
    due = 0;
    if (text !== "") send(text);
  };
  log.subscribe((isTold) => {
    if (subscribers.size === 0) return;
    if (isTold && isSlow) {
      clearTimeout(timer);
      timer = undefined;
    }
    if (timer === undefined) {
      isSlow = !isTold;
      timer = setTimeout(flush, isTold ? batchTime : floodTime).unref();
    }
    if (!isTold) return;
    due += 1;
    if (due === mostInBatch) flush();
  });
  const work = () => {
    const stopPolling = pollTimeline(runtime);
    const beating = setInterval(() => send(": still here\n\n"), heartbeat).unref();
    rest = () => {
      stopPolling();
      clearInterval(beating);
    };
  };
  return {
    log,
    flush,
    subscribers: () => subscribers.size,
    join(subscriber) {
      flush();
      if (subscribers.size === 0) work();
      subscribers.add(subscriber);
      return () => {
        if (subscribers.delete(subscriber) && subscribers.size === 0) rest();
      };
    },
  };
}

// Whether a request is told one by one; asked for each.
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
  });
  // HEAD gets no body, and nothing happens any more in what is gone.
  if (request.method === "HEAD" || gone.aborted) {
    response.end();
    return;
  }
  const { log, flush, join } = broadcastOf(runtime, server.replica !== undefined);
  const leave = join((bytes) => {
    response.write(bytes);
    if (response.writableLength <= mostUnread) return;
    stop();
    response.destroy();
  });
  response.write(`retry: 1000\n\n${missedBy(request.get("last-event-id"), log)}`);
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

function missedBy(lastEventId: string | undefined, log: EventLog): string {
  if (lastEventId === undefined || !/^\d{1,15}$/.test(lastEventId)) return "";
  return textSince(Number(lastEventId), log);
}

function textSince(last: number, log: EventLog): string {
  const events = log.since(last);
  if (events === undefined) return lostText(log.latest(), last);
  const texts = events.map(({ id, after, event }) =>
    event === undefined
      ? lostText(id, Math.max(after, last))
      : `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(dataOf(event))}\n\n`,
  );
  return texts.join("");
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
