import { setMaxListeners } from "node:events";
// Node's own: in jsdom the global one gives a number, which has no `unref`.
import { clearInterval, clearTimeout, setInterval, setTimeout } from "node:timers";
import { requestLine, snakeCase } from "../../api/snake-case.js";
import { createEventLog, type EventLog, type LoggedEvent, type WorldEvent } from "../../sandbox/events.js";
import type { Runtime } from "../../sandbox/runtime.js";
import { pollTimeline } from "../poll-timeline.js";
import { stepData } from "../step-data.js";
import type { RouteContext } from "./route.js";

/** The bytes a subscriber may be behind before it is disconnected; it can resume. */
const mostUnread = 1024 * 1024;
const heartbeat = 15_000;

/** Events are sent in batches: after so many milliseconds, or as soon as there are so many. */
const batchTime = 20;
const mostInBatch = 500;

/** Sends the events of one runtime to all its subscribers; a batch is put into words once. */
interface Broadcast {
  readonly log: EventLog;
  /** Sends what is due. */
  readonly flush: () => void;
  /** Sends everything from now on to this subscriber as well; returns how to leave. */
  readonly join: (subscriber: (bytes: Buffer) => void) => () => void;
}

const broadcasts = new WeakMap<Runtime, Broadcast>();

// Made for the first subscriber: a server without one keeps no log.
function broadcastOf(runtime: Runtime): Broadcast {
  const broadcast = broadcasts.get(runtime) ?? createBroadcast(runtime);
  broadcasts.set(runtime, broadcast);
  return broadcast;
}

function createBroadcast(runtime: Runtime): Broadcast {
  const log = createEventLog(runtime);
  const subscribers = new Set<(bytes: Buffer) => void>();
  let due: LoggedEvent[] = [];
  let timer: NodeJS.Timeout | undefined;
  let rest = () => {};
  const send = (text: string) => {
    const bytes = Buffer.from(text);
    for (const subscriber of subscribers) subscriber(bytes);
  };
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const events = due;
    due = [];
    if (events.length > 0) send(events.map(eventText).join(""));
  };
  log.subscribe((logged) => {
    if (subscribers.size === 0) return;
    due.push(logged);
    timer ??= setTimeout(flush, batchTime).unref();
    if (due.length === mostInBatch) flush();
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

/**
 * Answers with server-sent events: everything that happens in the runtime from now on, or, with `Last-Event-ID`, from
 * there on. When some of those are forgotten, `events.lost` says so first.
 *
 * A subscriber that does not read is disconnected rather than waited for; it can resume. The stream ends when the
 * server or the instance is `gone`.
 */
export function streamEvents({ runtime, request, response, gone }: RouteContext): void {
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
  const { log, flush, join } = broadcastOf(runtime);
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
  const missed = log.since(Number(lastEventId));
  if (missed !== undefined) return missed.map(eventText).join("");
  return `id: ${log.latest()}\nevent: events.lost\ndata: {"last_event_id":${Number(lastEventId)}}\n\n`;
}

function eventText({ id, event }: LoggedEvent): string {
  return `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(dataOf(event))}\n\n`;
}

function dataOf(event: WorldEvent): unknown {
  if (event.type === "request") return requestLine(event.request);
  if (event.type === "timeline.step" || event.type === "story.step") return stepData(event);
  const { type: _, ...data } = event;
  return snakeCase(data);
}
