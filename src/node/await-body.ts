import type { IncomingMessage } from "node:http";

/** How many milliseconds to wait for the first piece of a body or its end. */
const patience = 50;

/** Says whether a body that comes in pieces is empty, as soon as that is known; one that is late in coming is not. */
export function awaitBody(request: IncomingMessage, then: (isEmpty: boolean) => void): void {
  const settle = (isEmpty: boolean) => {
    clearTimeout(timer);
    request.off("data", hasSome).off("end", hasNone).off("close", hasNone);
    then(isEmpty);
  };
  const hasSome = () => settle(false);
  const hasNone = () => settle(true);
  const timer = setTimeout(hasSome, patience);
  // Node tells of a client that goes away only those who ask.
  request
    .on("data", hasSome)
    .on("end", hasNone)
    .on("close", hasNone)
    .on("error", () => {});
}
