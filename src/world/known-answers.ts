import type { AnswerDelivery, ApiRequest, Connection } from "../history/exchange.js";

/** The connection of all calls in this process; adapters report when they deliver a response. */
export const inProcess: Connection = Object.freeze({ repeatsOfLoop: 1 });

/** Repeats that show a loop on a client's own connection: in a burst, some clients reuse a free connection immediately. */
export const repeatsOfDirectLoop = 5;

/** The part of a request that shows which responses its client knew. */
export interface SentRequest {
  readonly request: Pick<ApiRequest, "connection">;
  /** The number of the request in the sandbox. */
  readonly number: number;
  /** When it arrived, on the stopwatch. */
  readonly started: number;
  /** The delivery of its response. */
  readonly delivery: AnswerDelivery;
}

/** A response that later requests with a key should respect, and the use of the key since. Changed in place. */
export interface KnownAnswer {
  delivery: AnswerDelivery;
  latest: AnswerDelivery;
  /** The connections used since, including its own. */
  readonly connections: Connection[];
  /** The number of requests since, on connections that the key had already used. */
  repeats: number;
  /** Whether requests since were, or may have been, in progress at the same time. */
  isParallel: boolean;
  /** The delivery of the first such response. */
  readonly first: AnswerDelivery;
  /** The number of requests since, and the number of the latest. */
  sent: number;
  number: number;
  /** How many of them arrived in a row on one connection, with no other request to the sandbox in between. */
  inRow: number;
}

/**
 * What a repeated request shows. `early`: it arrived before the response was sent. `unclear`: it may belong to a burst, or
 * to another test of the suite. `retry`: the client knew the response and repeated the request anyway.
 */
export type Repeat = "early" | "unclear" | "retry";

/**
 * Milliseconds without a request that end a burst.
 *
 * Bursts open their connections within 60, or with pauses of up to 160 on a busy machine. A retry after 200 is not a burst.
 */
const quietTime = 180;
/** Milliseconds after which a client knows a response even if its requests never pause. */
const longTime = 1000;
/** Connections that a sequential client uses at most: Node's `fetch` alternates between two. */
const maxSequentialConnections = 2;
/** Requests in a row that are a loop, even in one process: a suite rarely sends one key in five tests without a reset. */
const loopLength = 5;
/** Requests, over more than `longTime`, that no test suite sends. */
const mostOfSuite = 20;

const longAgo: AnswerDelivery = Object.freeze({ at: Number.NEGATIVE_INFINITY });

/**
 * Returns whether the client knew a response when it sent a request, and stores the request as the latest.
 *
 * A client knows it after a pause or a second. A sequential client also knows it once it repeats itself on the same
 * connection, often enough or for longer than a burst.
 */
export function isKnown(answer: KnownAnswer, sent: SentRequest): boolean {
  return repeatOf(answer, sent).isKnown;
}

/** Like `isKnown`, but also returns what the request shows of a rejected client. */
export function repeatOf(
  answer: KnownAnswer,
  sent: SentRequest,
): { readonly isKnown: boolean; readonly repeat: Repeat } {
  const { started } = sent;
  const { connection } = sent.request;
  const age = started - answer.delivery.at;
  const pause = started - answer.latest.at;
  const isRepeat = connection !== undefined && answer.connections.includes(connection);
  if (isRepeat) answer.repeats += 1;
  else if (connection === undefined || answer.connections.length === maxSequentialConnections)
    answer.isParallel = true;
  else answer.connections.push(connection);
  if (pause < 0) answer.isParallel = true;
  const isNext = isRepeat && sent.number === answer.number + 1;
  answer.inRow = isNext ? answer.inRow + 1 : 0;
  answer.sent += 1;
  answer.number = sent.number;
  answer.latest = sent.delivery;
  if (age < 0) return { isKnown: false, repeat: "early" };
  const hasPaused = age >= longTime || pause >= quietTime;
  // Later requests follow even more time.
  if (hasPaused && age < longTime) answer.delivery = longAgo;
  const isLoop =
    isRepeat && !answer.isParallel && (answer.repeats >= connection.repeatsOfLoop || age >= quietTime);
  return {
    isKnown: hasPaused || isLoop,
    repeat: isRetry(answer, sent, { isLoop, hasPaused }) ? "retry" : "unclear",
  };
}

// In one process or behind a proxy, a pause may separate two tests or two clients.
function isRetry(
  { sent, first, inRow, isParallel }: KnownAnswer,
  { started, request: { connection } }: SentRequest,
  { isLoop, hasPaused }: { readonly isLoop: boolean; readonly hasPaused: boolean },
): boolean {
  if (sent >= mostOfSuite && started - first.at >= longTime) return true;
  if (isParallel || inRow === 0) return false;
  const isOwn = connection !== inProcess && Number.isFinite(connection?.repeatsOfLoop);
  return hasPaused && isOwn ? true : isLoop && inRow >= loopLength;
}

/** Returns the known response after a request; an earlier one takes precedence once it was sent. */
export function learn(earlier: KnownAnswer | undefined, sent: SentRequest): KnownAnswer {
  const { delivery, started, number } = sent;
  const { connection } = sent.request;
  if (earlier === undefined) {
    const connections = connection === undefined ? [] : [connection];
    const since = { repeats: 0, isParallel: false, first: delivery, sent: 0, number, inRow: 0 };
    return { delivery, latest: delivery, connections, ...since };
  }
  if (earlier.delivery.at > started) earlier.delivery = delivery;
  return earlier;
}
