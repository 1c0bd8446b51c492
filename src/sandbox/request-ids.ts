import { hexOf, mix32, randomStream } from "../rules/seed.js";

/** The number of requests in a series of ids, and the number of series. */
const seriesLength = 2 ** 32;
const seriesCount = 2 ** 21;

/** What the ids of a series share: their start, and the salt of what is behind it. */
interface Series {
  readonly series: number;
  readonly start: string;
  readonly salt: number;
}

/** The n-th id depends only on the seed, the series and n, and differs from all others, because the mixing is one-to-one (R7). */
export class RequestIds {
  readonly #seed: number;
  #responded: number;
  /** The series of the last id. */
  #drawn: Series;
  #planned: { readonly number: number; readonly act: () => void } | undefined;

  constructor(seed: number, responded = 0) {
    this.#seed = seed;
    this.#responded = responded;
    this.#drawn = drawSeries(seed, seriesOf(responded));
  }

  next(): { readonly number: number; readonly id: string } {
    this.#responded += 1;
    if (this.#responded === this.#planned?.number) this.#planned.act();
    return { number: this.#responded, id: this.idOf(this.#responded) };
  }

  /** Returns the id of the request with a number: `req_` and 24 hex digits. */
  idOf(number: number): string {
    const series = seriesOf(number);
    if (series !== this.#drawn.series) this.#drawn = drawSeries(this.#seed, series);
    return this.#drawn.start + hexOf(mix32(number ^ this.#drawn.salt));
  }

  responded(): number {
    return this.#responded;
  }

  /** Calls a function at the request with this number, in place of the function that was to be called before. */
  atRequest(number: number, act: () => void): void {
    this.#planned = { number, act };
  }

  series(): number {
    return seriesOf(this.#responded);
  }
}

function seriesOf(number: number): number {
  return Math.floor(number / seriesLength);
}

function drawSeries(seed: number, series: number): Series {
  const labels = ["request.id"];
  // The ids of the first series depend only on the seed.
  if (series !== 0) labels.push(String(series));
  const draw = randomStream(seed, ...labels);
  const start = `req_${hexOf(draw())}${hexOf(draw())}`;
  return { series, start, salt: draw() };
}

/** The number of a request of one series in another series. */
export function numberInto(series: number, number: number): number {
  return (series % seriesCount) * seriesLength + numberInSeries(number);
}

export function numberInSeries(number: number): number {
  return number % seriesLength;
}
