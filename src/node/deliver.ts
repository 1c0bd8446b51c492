import type { ServerResponse } from "node:http";
import { type Delivery, partsOf } from "../api/delivery.js";
import type { ApiAnswer } from "../api/messages.js";
import { resetConnection } from "./reset-connection.js";

/**
 * Delivers an answer that a fault has got hold of on a socket.
 *
 * Leaves nothing behind when the client goes away first: no timer, no open connection.
 */
export function deliver(delivery: Delivery, answer: ApiAnswer, response: ServerResponse): void {
  // Until the client gives up, or the server stops.
  if (delivery.kind === "hang") return;
  const later = laterOn(response);
  later(delivery.delayMs, () => {
    if (delivery.kind === "reset") return resetConnection(response);
    response.writeHead(answer.status, answer.headers as string[]);
    response.flushHeaders();
    const { parts, pauseMs } = partsOf(answer.body, delivery);
    if (parts.length === 0) return finish(delivery, response);
    const sendFrom = (index: number) =>
      later(pauseMs, () => {
        const isLast = index === parts.length - 1;
        response.write(parts[index]);
        if (isLast) finish(delivery, response);
        else sendFrom(index + 1);
      });
    sendFrom(0);
  });
}

type Later = (ms: number, act: () => void) => void;

// One listener for all the pauses of a response: a slow one has hundreds.
function laterOn(response: ServerResponse): Later {
  let timer: NodeJS.Timeout | undefined;
  response.once("close", () => clearTimeout(timer));
  return (ms, act) => {
    if (ms === 0) act();
    else timer = setTimeout(act, ms);
  };
}

function finish({ cutAfter }: Delivery, response: ServerResponse): void {
  if (cutAfter === undefined) {
    response.end();
    return;
  }
  // What was written goes out first; then the client sees the connection end before the body does.
  response.write("", () => response.req.socket.destroySoon());
}
