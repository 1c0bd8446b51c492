import { type Exchange, sourceOf } from "./exchange.js";

/** Leaves out each request that may have failed because of a fault, if its sender, a client or the story, has sent it again. */
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

/** Whether a fault may be why a client sent this request again. */
function mayHaveFailed({ fault, outcome, isUnread, status }: Exchange): boolean {
  if (fault === null) return false;

  const isResponseReplaced = fault === outcome;
  if (isResponseReplaced) return true;

  // The fault delayed the response, and the client stopped waiting.
  if (isUnread === true) return true;

  // A client never sends a request again after it has read a 401 or 403. This client has sent it again, so it has not read it.
  const isUnreadRejection = status === 401 || status === 403;
  return isUnreadRejection;
}
