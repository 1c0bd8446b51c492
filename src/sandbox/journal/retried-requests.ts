import { type Exchange, sourceOf } from "./exchange.js";

/** Leaves out the requests that a fault hit and that who sent them, a client or the story, then sent again. */
export function withoutRetried(all: readonly Exchange[]): Exchange[] {
  const left: Exchange[] = [];
  const sentLater = new Set<string>();
  // The latest first, so that what was sent after a request is known.
  for (const exchange of [...all].reverse()) {
    const { method, path, fingerprint } = exchange;
    const sameRequest = `${sourceOf(exchange)} ${method} ${path} ${fingerprint}`;
    const isSentAgain = sentLater.has(sameRequest);
    sentLater.add(sameRequest);

    const isRetried = isSentAgain && mayHaveFailed(exchange);
    if (!isRetried) left.push(exchange);
  }
  return left.reverse();
}

/** Whether a client that sent a request again may have got nothing from it, because of a fault. */
function mayHaveFailed({ fault, outcome, isUnread, status }: Exchange): boolean {
  if (fault === null) return false;
  const isResponseReplaced = fault === outcome;
  if (isResponseReplaced || isUnread === true) return true;

  // The response was delayed. A client that reads a 401 or 403 does not send the request again. This client did, so that it has
  // stopped waiting before, although the server had sent the whole response.
  const isUnreadRejection = status === 401 || status === 403;
  return isUnreadRejection;
}
