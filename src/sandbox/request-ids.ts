import { hexOf, mix32, randomStream } from "../rules/seed.js";

// Requests have numbers, and each number has an id. After a restart, a sandbox counts its requests from 1 again, but no id comes
// again. So the numbers are in series of 2 ** 32, and a restart begins the next series, as does a continuation from a file: the
// first requests of a sandbox are 1, 2, 3; those after its first restart are 2 ** 32 + 1, 2 ** 32 + 2, 2 ** 32 + 3.

/** As many numbers as the mixing of 32 bits keeps apart. */
const seriesLength = 2 ** 32;

/** What the ids of a series have in common. */
interface IdSeries {
  readonly index: number;
  /** The first 20 characters of each id. */
  readonly prefix: string;
  /** Mixed into the last 8 characters of each id. */
  readonly salt: number;
}

/**
 * The request ids of a sandbox (R7): each depends only on the seed and the request's number. Two ids of one series differ in their
 * last 8 characters, because the mixing is one-to-one. Two ids of different series differ in their prefix of 64 random bits.
 */
export class RequestIds {
  readonly #seed: number;
  #latestNumber: number;
  /** The series of the id that was made last. */
  #series: IdSeries;

  constructor(seed: number, latestNumber = 0) {
    this.#seed = seed;
    this.#latestNumber = latestNumber;
    this.#series = makeSeries(seed, this.seriesOf(latestNumber));
  }

  /** Takes the number of the next request, and its id. */
  next(): { readonly number: number; readonly id: string } {
    this.#latestNumber += 1;
    return { number: this.#latestNumber, id: this.idOf(this.#latestNumber) };
  }

  /** The id of the request with a number: `req_` and 24 hex digits. */
  idOf(number: number): string {
    const series = this.seriesOf(number);
    if (series !== this.#series.index) this.#series = makeSeries(this.#seed, series);
    // `^` reads the lowest 32 bits of the number: its place in the series.
    return this.#series.prefix + hexOf(mix32(number ^ this.#series.salt));
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

  /** The ids of a sandbox after a restart, or from its file: of the next series, in which so many requests have come already. */
  afterRestart(seed: number, countInSeries: number): RequestIds {
    const series = this.seriesOf(this.#latestNumber) + 1;
    return new RequestIds(seed, series * seriesLength + countInSeries);
  }
}

function makeSeries(seed: number, index: number): IdSeries {
  const labels = ["request.id"];
  // The ids of the first series depend only on the seed.
  if (index !== 0) labels.push(String(index));
  const draw = randomStream(seed, ...labels);
  const prefix = `req_${hexOf(draw())}${hexOf(draw())}`;
  return { index, prefix, salt: draw() };
}
