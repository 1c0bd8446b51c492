import type { AnswerDelivery, ApiRequest, Connection } from "../history/exchange.js";

/** The connection of all calls in this process: an adapter says when it hands over an answer. */
export const inProcess: Connection = Object.freeze({ repeatsOfLoop: 1 });

/** Repeats of a loop on a client's own connection: a burst of some clients uses a connection twice, as soon as it is free. */
export const repeatsOfDirectLoop = 5;

/** A request, as far as it shows which answers its client knew. */
export interface SentRequest {
  readonly request: Pick<ApiRequest, "connection">;
  /** Instant on the stopwatch when it arrived. */
  readonly started: number;
  /** The handing over of its response. */
  readonly delivery: AnswerDelivery;
}

/** An answer that matters to the later requests with a key, and how the key was used since. Changed in place. */
export interface KnownAnswer {
  delivery: AnswerDelivery;
  latest: AnswerDelivery;
  /** The connections used since, its own included. */
  readonly connections: Connection[];
  /** The number of requests since on a connection that the key had used already. */
  repeats: number;
  /** Whether requests were under way at the same time since, or may have been. */
  isParallel: boolean;
}

/**
 * Milliseconds without a request after which the next one belongs to no burst.
 *
 * Bursts open their connections within 60, on a busy machine with pauses of up to 160; a retry after 200 is none.
 */
const quietTime = 180;
/** Milliseconds after which a client knows an answer even if its requests never pause. */
const longTime = 1000;
/** Number of connections that a client with one request at a time uses: Node's `fetch` alternates between two. */
const maxSequentialConnections = 2;

const longAgo: AnswerDelivery = Object.freeze({ at: Number.NEGATIVE_INFINITY });

/**
 * Returns whether the client knew an answer when it sent a request, and remembers the request as the latest.
 *
 * It knew it after a pause of its key, or a second later, or if it sends one request at a time: then it repeats itself
 * on the same connection, often enough or for longer than a burst takes.
 */
export function isKnown(answer: KnownAnswer, sent: SentRequest): boolean {
  const { started, delivery } = sent;
  const { connection } = sent.request;
  const age = started - answer.delivery.at;
  const pause = started - answer.latest.at;
  const isRepeat = connection !== undefined && answer.connections.includes(connection);
  if (isRepeat) answer.repeats += 1;
  else if (connection === undefined || answer.connections.length === maxSequentialConnections)
    answer.isParallel = true;
  else answer.connections.push(connection);
  if (pause < 0) answer.isParallel = true;
  answer.latest = delivery;
  if (age < 0) return false;
  if (age >= longTime) return true;
  if (pause >= quietTime) {
    // The requests that follow were sent even later.
    answer.delivery = longAgo;
    return true;
  }
  return isRepeat && !answer.isParallel && (answer.repeats >= connection.repeatsOfLoop || age >= quietTime);
}

/** Returns what is known after the answer to a request; an earlier answer counts once it has gone out. */
export function learn(
  earlier: KnownAnswer | undefined,
  { request: { connection }, started, delivery }: SentRequest,
): KnownAnswer {
  if (earlier === undefined) {
    const connections = connection === undefined ? [] : [connection];
    return { delivery, latest: delivery, connections, repeats: 0, isParallel: false };
  }
  if (earlier.delivery.at > started) earlier.delivery = delivery;
  return earlier;
}
