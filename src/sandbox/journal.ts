import { hexOf, mix32, randomStream } from "../domain/seed.js";
import type { Exchange } from "./history/exchange.js";

export interface JournalQuery {
  /** At most this many, the latest ones. Default: all. */
  readonly limit?: number | undefined;
  /** That on which the request ended, or that of the fault that hit it. */
  readonly pathId?: string | undefined;
  /** A key's ref. */
  readonly key?: string | undefined;
}

/** Makes an empty journal: a ring of requests, so that memory stays flat however long the sandbox runs. */
export function createJournal(capacity = 1000) {
  let ring: Exchange[] = [];
  let next = 0;
  let total = 0;
  const inOrder = () => (total > capacity ? [...ring.slice(next), ...ring.slice(0, next)] : [...ring]);
  return {
    record(exchange: Exchange): void {
      ring[next] = exchange;
      next = next + 1 === capacity ? 0 : next + 1;
      total += 1;
    },
    /** Oldest first. */
    list({ limit, pathId, key }: JournalQuery = {}): Exchange[] {
      const matching = inOrder().filter(
        (one) =>
          (pathId === undefined || one.pathId === pathId || one.fault === pathId) &&
          (key === undefined || one.key === key),
      );
      return limit === undefined ? matching : matching.slice(Math.max(0, matching.length - limit));
    },
    /** The request of an id; `undefined` without one, or if it is no longer kept. */
    find: (id: string): Exchange | undefined => ring.find((one) => one.id === id),
    /** The requests after the first `count` that were recorded, as far as they are kept; oldest first. */
    after: (count: number): readonly Exchange[] =>
      inOrder().slice(Math.max(0, ring.length - (total - count))),
    /** The number of requests recorded since the start or the last `clear`, discarded ones included. */
    total: () => total,
    clear(): void {
      ring = [];
      next = 0;
      total = 0;
    },
    /** Continues from the requests that a journal has listed, the last of `count`. */
    restore(listed: readonly Exchange[], count: number): void {
      ring = [...listed];
      next = ring.length % capacity;
      total = count;
    },
  };
}

export type Journal = ReturnType<typeof createJournal>;

/** The number of requests that have ids of one series, and the number of series. */
const seriesLength = 2 ** 32;
const seriesCount = 2 ** 21;

/**
 * Makes the source of a world's request ids (R7).
 *
 * The n-th id depends on the seed, the series and n alone; those of a series differ, because the mixing is one to one.
 * `answered` requests are taken to have had theirs. The number of a request has its series in it.
 */
export function createRequestIds(seed: number, answered = 0) {
  const seriesOf = (number: number) => Math.floor(number / seriesLength);
  const draw = (series: number) => {
    // The first series has the ids of the seed alone.
    const stream = randomStream(seed, "request.id", ...(series === 0 ? [] : [String(series)]));
    return { series, start: `req_${hexOf(stream())}${hexOf(stream())}`, salt: stream() };
  };
  let count = answered;
  let drawn = draw(seriesOf(answered));
  return {
    /** Counts one more request; returns its number. */
    next(): number {
      count += 1;
      return count;
    },
    /** The id of the request of a number: `req_` and 24 hex digits. */
    idOf(number: number): string {
      if (seriesOf(number) !== drawn.series) drawn = draw(seriesOf(number));
      return drawn.start + hexOf(mix32(number ^ drawn.salt));
    },
    /** The number of the last request counted. */
    answered: () => count,
    series: () => seriesOf(count),
    /** Goes on in another series. */
    enter(series: number): void {
      count = (series % seriesCount) * seriesLength + placeInSeries(count);
    },
  };
}

/** The number of a request within its series, from 1 on. */
export function placeInSeries(number: number): number {
  return number % seriesLength;
}

export type RequestIds = ReturnType<typeof createRequestIds>;
