import { type Exchange, sourceOf } from "./exchange.js";

/** Leaves out each request that may have failed because of a fault, if its sender, a client or the story, has sent it again. */
export function withoutRetried(all: readonly Exchange[]): Exchange[] {
  const kept: Exchange[] = [];
  const sentLater = new Set<string>();
  // The latest first, so that what was sent after a request is known.
  for (const exchange of [...all].reverse()) {
    const { method, path, fingerprint } = exchange;
    const sameRequest = `${sourceOf(exchange)} ${method} ${path} ${fingerprint}`;
    const isRetried = sentLater.has(sameRequest) && mayHaveFailed(exchange);
    sentLater.add(sameRequest);
    if (!isRetried) kept.push(exchange);
  }
  return kept.reverse();
}

/** Whether a fault may be why a request was sent again. */
function mayHaveFailed({ fault, outcome, isUnread, status }: Exchange): boolean {
  if (fault === null) return false;

  const isResponseReplaced = fault === outcome;
  if (isResponseReplaced) return true;

  // The fault only delayed the response. It failed if the client stopped waiting, which only an HTTP server knows.
  if (isUnread === true) return true;

  // In tests without a server, nobody knows whether the client stopped waiting. A client that has read a 401 or 403 has no reason to
  // send the request again, so it counts as one that stopped. After a 200 it may have a reason, such as to read the data again.
  return status === 401 || status === 403;
}
