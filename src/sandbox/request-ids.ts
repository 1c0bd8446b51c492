import { hexOf, mix32, randomStream } from "../domain/seed.js";

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
