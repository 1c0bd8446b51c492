import { setMaxListeners } from "node:events";
// Node's own: in jsdom the global one gives a number, which has no `unref`.
import { clearInterval, setInterval } from "node:timers";
import { requestLine, snakeCase } from "../../api/snake-case.js";
import { createEventLog, type EventLog, type LoggedEvent, type WorldEvent } from "../../sandbox/events.js";
import type { Runtime } from "../../sandbox/runtime.js";
import { pollTimeline } from "../poll-timeline.js";
import { stepData } from "../step-data.js";
import type { RouteContext } from "./route.js";

const logs = new WeakMap<Runtime, EventLog>();

// Made for the first subscriber: a server without one keeps no log.
function logOf(runtime: Runtime): EventLog {
  const log = logs.get(runtime) ?? createEventLog(runtime);
  logs.set(runtime, log);
  return log;
}

/** The bytes a subscriber may be behind before it is disconnected; it can resume. */
const mostUnread = 1024 * 1024;
const heartbeat = 15_000;

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
  const log = logOf(runtime);
  response.write("retry: 1000\n\n");
  for (const line of missedBy(request.get("last-event-id"), log)) response.write(line);

  const send = (text: string) => {
    response.write(text);
    if (response.writableLength <= mostUnread) return;
    stop();
    response.destroy();
  };
  const leave = log.subscribe((logged) => send(eventText(logged)));
  const timer = setInterval(() => send(": still here\n\n"), heartbeat);
  timer.unref();
  const stopPolling = pollTimeline(runtime);
  // At once, not when the connection has closed: writing to an ended stream is an error.
  const stop = () => {
    gone.removeEventListener("abort", end);
    leave();
    clearInterval(timer);
    stopPolling();
  };
  const end = () => {
    stop();
    response.end();
  };
  // Node warns of a leak at more than ten listeners on one signal.
  setMaxListeners(0, gone);
  gone.addEventListener("abort", end);
  response.once("close", stop);
}

function missedBy(lastEventId: string | undefined, log: EventLog): string[] {
  if (lastEventId === undefined || !/^\d{1,15}$/.test(lastEventId)) return [];
  const missed = log.since(Number(lastEventId));
  if (missed !== undefined) return missed.map(eventText);
  return [`id: ${log.latest()}\nevent: events.lost\ndata: {"last_event_id":${Number(lastEventId)}}\n\n`];
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
