import { hexOf, mix32, randomStream } from "../rules/seed.js";

// Requests have numbers, and each number has an id. After a restart, a sandbox counts its requests from 1 again, but no id may
// come again. So the numbers are in series of 2 ** 32, and a restart begins the next series: the first requests of a sandbox
// are 1, 2, 3; those after its first restart are 2 ** 32 + 1, 2 ** 32 + 2, 2 ** 32 + 3.

/** As many numbers as the mixing of 32 bits keeps apart. */
const seriesLength = 2 ** 32;
/** As many series as safe integers can number. Behind the last one, the first comes again. */
const seriesCount = 2 ** 21;

/** What the ids of a series have in common. */
interface IdSeries {
  readonly index: number;
  /** The first characters of each id. */
  readonly start: string;
  /** Makes the last 8 characters those of this series. */
  readonly salt: number;
}

/** The request ids of a sandbox: each depends only on the seed and the request's number, and differs from all others, because the mixing is one-to-one (R7). */
export class RequestIds {
  readonly #seed: number;
  #latestNumber: number;
  /** The series of the id that was made last. */
  #series: IdSeries;
  #planned: { readonly number: number; readonly act: () => void } | undefined;

  constructor(seed: number, latestNumber = 0) {
    this.#seed = seed;
    this.#latestNumber = latestNumber;
    this.#series = makeSeries(seed, this.seriesOf(latestNumber));
  }

  /** Takes the number of the next request, and its id. */
  next(): { readonly number: number; readonly id: string } {
    this.#latestNumber += 1;
    if (this.#latestNumber === this.#planned?.number) this.#planned.act();
    return { number: this.#latestNumber, id: this.idOf(this.#latestNumber) };
  }

  /** The id of the request with a number: `req_` and 24 hex digits. */
  idOf(number: number): string {
    const series = this.seriesOf(number);
    if (series !== this.#series.index) this.#series = makeSeries(this.#seed, series);
    return this.#series.start + hexOf(mix32(number ^ this.#series.salt));
  }

  /** The number of the latest request. */
  latestNumber(): number {
    return this.#latestNumber;
  }

  /** The series of the request with a number; the first one is 0, and each restart begins the next. */
  seriesOf(number: number): number {
    return Math.floor(number / seriesLength);
  }

  /** How many requests there were in the series of the latest one. */
  countInSeries(): number {
    return this.#latestNumber % seriesLength;
  }

  /** The ids of a sandbox after a restart: of the next series, in which so many requests have come already. */
  afterRestart(seed: number, countInSeries: number): RequestIds {
    const series = (this.seriesOf(this.#latestNumber) + 1) % seriesCount;
    return new RequestIds(seed, series * seriesLength + (countInSeries % seriesLength));
  }

  /** Calls a function when the request with this number comes. Only the function that was planned last is called. */
  planAt(number: number, act: () => void): void {
    this.#planned = { number, act };
  }
}

function makeSeries(seed: number, index: number): IdSeries {
  const labels = ["request.id"];
  // The ids of the first series depend only on the seed.
  if (index !== 0) labels.push(String(index));
  const draw = randomStream(seed, ...labels);
  const start = `req_${hexOf(draw())}${hexOf(draw())}`;
  return { index, start, salt: draw() };
}
