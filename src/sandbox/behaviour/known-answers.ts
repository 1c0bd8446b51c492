/**
 * A connection on which the requests of a client come one after the other. Compared by identity.
 *
 * Without one nothing is known of what a request came on: it passed a server or a service worker of others.
 */
export interface Connection {
  /** Whether the client itself is at its other end; a proxy sends requests of several clients on one connection. */
  readonly isDirect: boolean;
}

/** The connection of all calls in this process. */
export const inProcess: Connection = Object.freeze({ isDirect: true });

/** The handing over of an answer. Changed in place. */
export interface AnswerDelivery {
  /** Instant on the stopwatch at which the answer went out; `Infinity` before. */
  at: number;
}

/** A request as far as it tells which answers its client knew. */
export interface SentRequest {
  /** Instant on the stopwatch at which it arrived. */
  readonly started: number;
  readonly connection: Connection | undefined;
  readonly delivery: AnswerDelivery;
}

/** An answer that matters to the later requests with a key, and how the key was used since. Changed in place. */
export interface KnownAnswer {
  delivery: AnswerDelivery;
  /** The delivery of the latest request since. */
  latest: AnswerDelivery;
  /** The connections used since, its own included. */
  readonly connections: Connection[];
  /** Whether requests were under way at the same time since, or may have been. */
  isParallel: boolean;
}

/**
 * Milliseconds without a request after which the next one belongs to no burst.
 *
 * Bursts open their connections in 60, on a busy machine with pauses of up to 120; a retry after 200 is one.
 */
const quietTime = 150;
/** Milliseconds after which a client knows an answer even if its requests never pause. */
const longTime = 1000;
/** Number of connections that a client with one request at a time uses: Node's `fetch` alternates between two. */
const mostInTurn = 2;

const longAgo: AnswerDelivery = Object.freeze({ at: Number.NEGATIVE_INFINITY });

/**
 * Returns whether the client knew an answer when it sent a request, and remembers the request as the latest.
 *
 * It knew it after a pause of its key, or a second later, or if it sends one request at a time and repeats itself on a
 * connection. A connection that may be a proxy's has to show that for as long as a burst takes.
 */
export function isKnown(answer: KnownAnswer, { started, connection, delivery }: SentRequest): boolean {
  const age = started - answer.delivery.at;
  const pause = started - answer.latest.at;
  const isSame = connection !== undefined && answer.connections.includes(connection);
  if (pause < 0 || connection === undefined) answer.isParallel = true;
  else if (!isSame && answer.connections.length < mostInTurn) answer.connections.push(connection);
  else if (!isSame) answer.isParallel = true;
  answer.latest = delivery;
  if (age < 0) return false;
  if (age >= longTime) return true;
  if (pause >= quietTime) {
    // The requests that follow were sent even later.
    answer.delivery = longAgo;
    return true;
  }
  return isSame && !answer.isParallel && (connection.isDirect || age >= quietTime);
}

/** Returns what is known after the answer to a request; an earlier answer counts once it has gone out. */
export function learn(
  earlier: KnownAnswer | undefined,
  { started, connection, delivery }: SentRequest,
): KnownAnswer {
  if (earlier === undefined) {
    const connections = connection === undefined ? [] : [connection];
    return { delivery, latest: delivery, connections, isParallel: false };
  }
  if (earlier.delivery.at > started) earlier.delivery = delivery;
  return earlier;
}
