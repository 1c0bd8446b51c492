import { hexOf, mix32, randomStream } from "../rules/seed.js";

// The number of a request is its position in a series of ids, from 1, plus the length of the series before. A restart
// starts the next series, so that its ids differ from those before it, although its positions begin again.

/** As many positions as the mixing of 32 bits keeps apart, and as many series as integers can number. */
const seriesLength = 2 ** 32;
const seriesCount = 2 ** 21;

/** What the ids of a series have in common. */
interface Series {
  readonly index: number;
  /** The first characters of each id. */
  readonly start: string;
  /** Makes the last 8 characters those of this series. */
  readonly salt: number;
}

/** The request ids of a sandbox: each depends only on the seed and the request's number, and differs from all others, because the mixing is one-to-one (R7). */
export class RequestIds {
  readonly #seed: number;
  /** The number of the latest request. */
  #responded: number;
  /** The series of the id that was made last. */
  #series: Series;
  #planned: { readonly number: number; readonly act: () => void } | undefined;

  constructor(seed: number, responded = 0) {
    this.#seed = seed;
    this.#responded = responded;
    this.#series = makeSeries(seed, seriesOf(responded));
  }

  /** Takes the number of the next request, and its id. */
  next(): { readonly number: number; readonly id: string } {
    this.#responded += 1;
    if (this.#responded === this.#planned?.number) this.#planned.act();
    return { number: this.#responded, id: this.idOf(this.#responded) };
  }

  /** Returns the id of the request with a number: `req_` and 24 hex digits. */
  idOf(number: number): string {
    const series = seriesOf(number);
    if (series !== this.#series.index) this.#series = makeSeries(this.#seed, series);
    return this.#series.start + hexOf(mix32(number ^ this.#series.salt));
  }

  /** The number of the latest request. */
  latestNumber(): number {
    return this.#responded;
  }

  /** Calls a function at the request with this number, in place of the function that was to be called before. */
  atRequest(number: number, act: () => void): void {
    this.#planned = { number, act };
  }

  /** The series of the latest request. */
  series(): number {
    return seriesOf(this.#responded);
  }
}

/** The series of the request with a number; the first one is 0. */
export function seriesOf(number: number): number {
  return Math.floor(number / seriesLength);
}

function makeSeries(seed: number, index: number): Series {
  const labels = ["request.id"];
  // The ids of the first series depend only on the seed.
  if (index !== 0) labels.push(String(index));
  const draw = randomStream(seed, ...labels);
  const start = `req_${hexOf(draw())}${hexOf(draw())}`;
  return { index, start, salt: draw() };
}

/** The number of the request at a position in a series. A number stands for its own position. */
export function numberInSeries(series: number, position: number): number {
  return (series % seriesCount) * seriesLength + positionInSeries(position);
}

export function positionInSeries(number: number): number {
  return number % seriesLength;
}
