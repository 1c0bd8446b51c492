import { hexOf, mix32, randomStream } from "../rules/seed.js";

/** The number of requests in a series of ids, and the number of series. */
const seriesLength = 2 ** 32;
const seriesCount = 2 ** 21;

/** The n-th id depends only on the seed, the series and n, and differs from all others, because the mixing is one-to-one (R7). */
export function createRequestIds(seed: number, responded = 0) {
  const seriesOf = (number: number) => Math.floor(number / seriesLength);
  const draw = (series: number) => {
    // The ids of the first series depend only on the seed.
    const stream = randomStream(seed, "request.id", ...(series === 0 ? [] : [String(series)]));
    return { series, start: `req_${hexOf(stream())}${hexOf(stream())}`, salt: stream() };
  };
  let count = responded;
  let drawn = draw(seriesOf(responded));
  /** The id of the request with a number: `req_` and 24 hex digits. */
  const idOf = (number: number) => {
    if (seriesOf(number) !== drawn.series) drawn = draw(seriesOf(number));
    return drawn.start + hexOf(mix32(number ^ drawn.salt));
  };
  return {
    next(): { readonly number: number; readonly id: string } {
      count += 1;
      return { number: count, id: idOf(count) };
    },
    idOf,
    responded: () => count,
    series: () => seriesOf(count),
  };
}

/** The number of a request of one series in another series. */
export function numberInto(series: number, number: number): number {
  return (series % seriesCount) * seriesLength + numberInSeries(number);
}

export function numberInSeries(number: number): number {
  return number % seriesLength;
}

export type RequestIds = ReturnType<typeof createRequestIds>; // an interface would list the members again
