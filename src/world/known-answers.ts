import type { AnswerDelivery, ApiRequest, Connection } from "../history/exchange.js";

/** The connection of all calls in this process: an adapter says when it hands over a response. */
export const inProcess: Connection = Object.freeze({ repeatsOfLoop: 1 });

/** Repeats of a loop on a client's own connection: a burst of some clients uses a connection twice, as soon as it is free. */
export const repeatsOfDirectLoop = 5;

/** A request, as far as it shows which answers its client knew. */
export interface SentRequest {
  readonly request: Pick<ApiRequest, "connection">;
  /** Counts the requests of the world. */
  readonly number: number;
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
  /** The delivery of the first such response. */
  readonly first: AnswerDelivery;
  /** The number of requests since, and the number of the latest. */
  sent: number;
  number: number;
  /** How many of them came in a row on one connection, with no other request to the world between them. */
  inRow: number;
}

/**
 * What a repeated request shows. `early`: it came before the response went out. `unclear`: it may belong to a burst, or to
 * another test of one suite. `retry`: the client knew the response, and sent the request again all the same.
 */
export type Repeat = "early" | "unclear" | "retry";

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
/** Requests in a row that are a loop, even in one process: so many tests in a row send one key without a reset of the sandbox. */
const loopLength = 5;
/** Requests for longer than `longTime` that are no suite of tests. */
const mostOfSuite = 20;

const longAgo: AnswerDelivery = Object.freeze({ at: Number.NEGATIVE_INFINITY });

/**
 * Returns whether the client knew an answer when it sent a request, and remembers the request as the latest.
 *
 * It knew it after a pause of its key, or a second later, or if it sends one request at a time: then it repeats itself
 * on the same connection, often enough or for longer than a burst takes.
 */
export function isKnown(answer: KnownAnswer, sent: SentRequest): boolean {
  return repeatOf(answer, sent).isKnown;
}

/** Returns also what the request shows of a client that was refused. */
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
  // The requests that follow were sent even later.
  if (hasPaused && age < longTime) answer.delivery = longAgo;
  const isLoop =
    isRepeat && !answer.isParallel && (answer.repeats >= connection.repeatsOfLoop || age >= quietTime);
  return {
    isKnown: hasPaused || isLoop,
    repeat: isRetry(answer, sent, { isLoop, hasPaused }) ? "retry" : "unclear",
  };
}

// In one process, and behind a proxy, a pause may be that between two tests or two clients.
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

/** Returns what is known after the answer to a request; an earlier answer counts once it has gone out. */
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
