import { hexOf, mix32, randomStream } from "../rules/seed.js";

// Each request has a number, and its id is made of the number. After a restart, a sandbox counts its requests from 1 again, but no id
// comes again: the restart begins the next series of numbers. So does a continuation from a file.
//
// | the requests of a sandbox    | series | count in series | number                  |
// |------------------------------|--------|-----------------|-------------------------|
// | the first ones               | 0      | 1, 2 …          | 1, 2 …                  |
// | those after a restart        | 1      | 1, 2 …          | 2 ** 32 + 1, 2 ** 32 + 2 … |
// | those after the next restart | 2      | 1, 2 …          | 2 ** 33 + 1, 2 ** 33 + 2 … |

/** How many numbers a series has: as many as 32 bits can tell apart. */
const seriesLength = 2 ** 32;

/** What the ids of a series have in common. */
interface IdSeries {
  /** The number of the series, from 0. */
  readonly series: number;
  /** The first 20 characters of each id. */
  readonly prefix: string;
  /** Mixed into the last 8 characters of each id. */
  readonly salt: number;
}

/**
 * The request ids of a sandbox (R7): each depends only on the seed and the request's number. Two ids of one series differ in their
 * last 8 characters, because the mixing is one-to-one. Two series have different prefixes, since these have 64 random bits.
 */
export class RequestIds {
  readonly #seed: number;
  #latestNumber: number;
  /** What the id that was made last has in common with its series: nearly always the one of the next id, too. */
  #latestSeries: IdSeries;

  constructor(seed: number, latestNumber = 0) {
    this.#seed = seed;
    this.#latestNumber = latestNumber;
    this.#latestSeries = makeSeries(seed, this.seriesOf(latestNumber));
  }

  /** Takes the number of the next request, and its id. */
  next(): { readonly number: number; readonly id: string } {
    this.#latestNumber += 1;
    return { number: this.#latestNumber, id: this.idOf(this.#latestNumber) };
  }

  /** The id of the request with a number: `req_` and 24 hex digits. */
  idOf(number: number): string {
    const series = this.seriesOf(number);
    if (series !== this.#latestSeries.series) this.#latestSeries = makeSeries(this.#seed, series);
    const { prefix, salt } = this.#latestSeries;
    // `^` reads the lowest 32 bits of the number: its count in the series.
    return prefix + hexOf(mix32(number ^ salt));
  }

  /** The number of the latest request. */
  latestNumber(): number {
    return this.#latestNumber;
  }

  /** The series of the request with a number, from 0. */
  seriesOf(number: number): number {
    return Math.floor(number / seriesLength);
  }

  /** How many requests the series of the latest one has had. */
  countInSeries(): number {
    return this.#latestNumber % seriesLength;
  }

  /** The ids of the next series, which continue after `count` requests: after 2, the next is the third one. */
  nextSeries(seed: number, count: number): RequestIds {
    const series = this.seriesOf(this.#latestNumber) + 1;
    return new RequestIds(seed, series * seriesLength + count);
  }
}

function makeSeries(seed: number, series: number): IdSeries {
  const labels = ["request.id"];
  // The ids of the first series depend only on the seed.
  if (series !== 0) labels.push(String(series));
  const draw = randomStream(seed, ...labels);
  const prefix = `req_${hexOf(draw())}${hexOf(draw())}`;
  return { series, prefix, salt: draw() };
}
