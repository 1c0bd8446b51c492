import type { ServerResponse } from "node:http";
import { bodyParts } from "../../api/http-messages.js";
import { timers } from "../../node/platform.js";
import type { ApiResponse, Delivery } from "../../sandbox/call.js";
import type { Exchange } from "../../sandbox/journal/exchange.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";

/** Sends the response to a request of the API, with the fault of its delivery. `explain`: with its outcome as a header. */
export function sendExchange(
  sandbox: SandboxState,
  exchange: Exchange,
  explain: boolean,
  response: ServerResponse,
): void {
  const { delivery, response: message, date, at, outcome } = exchange;
  // The date of the sandbox, because clients wait for its minutes. Node would send the machine's.
  const headers = [...message.headers, "Date", new Date(date ?? at).toUTCString()];
  if (explain) headers.push("X-Sandbox-Outcome", outcome);
  if (delivery === undefined) {
    response.writeHead(message.status, headers).end(message.body);
    return;
  }

  // The client should give up on a response that is broken off or held back: by that, it covers the fault.
  if (delivery.isWhole) {
    response.once("close", () => {
      if (response.writableFinished) return;
      // The outcome counts as covered, and the report tells that its response was not read.
      sandbox.counters.countUnread(exchange.id);
      exchange.isUnread = true;
    });
  }
  sendFaulty(delivery, { ...message, headers }, response);
}

// Responses with a fault.

/** Sends a response that a fault delays, breaks or leaves out. If the client goes away first, no timer and no connection remain. */
function sendFaulty(delivery: Delivery, message: ApiResponse, response: ServerResponse): void {
  const { kind, latencyMs } = delivery;
  switch (kind) {
    case "hang":
      // Until the client gives up or the server stops. Its end shows only after the rest of its request is read.
      response.req.resume();
      return;
    case "reset": {
      const schedule = scheduleUntilClosed(response);
      schedule(latencyMs, () => {
        // So that the client sees a reset. Node cannot reset the socket under TLS; for a client, an abrupt end is the same.
        const { socket } = response.req;
        if ("encrypted" in socket) socket.destroy();
        else socket.resetAndDestroy();
      });
      return;
    }
    case "send": {
      const schedule = scheduleUntilClosed(response);
      schedule(latencyMs, () => sendParts(delivery, message, response, schedule));
      return;
    }
    default:
      kind satisfies never;
  }
}

/** Runs an act after a time, unless the connection is closed by then. */
type Schedule = (ms: number, act: () => void) => void;

/** The schedule of one response. It has one listener for all pauses: a slow response has hundreds. */
function scheduleUntilClosed(response: ServerResponse): Schedule {
  let timer: NodeJS.Timeout | undefined;
  response.once("close", () => timers.clearTimeout(timer));
  return (ms, act) => {
    if (ms === 0) act();
    else timer = timers.setTimeout(act, ms);
  };
}

/** Sends the head, and the parts of the body with pauses before them. */
function sendParts(
  delivery: Delivery,
  message: ApiResponse,
  response: ServerResponse,
  schedule: Schedule,
): void {
  response.writeHead(message.status, message.headers as string[]);
  response.flushHeaders();

  const { parts, pauseMs } = bodyParts(message.body, delivery);
  if (parts.length === 0) {
    endBody(delivery, response);
    return;
  }

  const sendFrom = (index: number) => {
    schedule(pauseMs, () => {
      response.write(parts[index]);
      const isLast = index === parts.length - 1;
      if (isLast) endBody(delivery, response);
      else sendFrom(index + 1);
    });
  };
  sendFrom(0);
}

/** Ends a response, or cuts its connection where the delivery cuts the body. */
function endBody({ cutAfter }: Delivery, response: ServerResponse): void {
  if (cutAfter === undefined) {
    response.end();
    return;
  }
  // Flushes first. Then the client sees the connection end before the body.
  response.write("", () => response.req.socket.destroySoon());
}
