import { hexOf, mix32, randomStream } from "../rules/seed.js";

/**
 * The request ids of a sandbox (R7). Each depends only on the seed, its series and its number in the series. After a restart, a
 * sandbox counts its requests from 1 again, but no id comes again: a restart or a continuation from a file begins the next series.
 * Two ids of one series differ in their last 8 characters, because the mixing is one-to-one. Two series have different prefixes,
 * since these have 64 random bits.
 */
export class RequestIds {
  readonly series: number;
  #count: number;
  readonly #prefix: string;
  readonly #salt: number;

  /** A series that continues after `count` requests: after 2, the next is the third one. */
  constructor(seed: number, series = 0, count = 0) {
    this.series = series;
    this.#count = count;
    const labels = ["request.id"];
    // The ids of the first series depend only on the seed.
    if (series !== 0) labels.push(String(series));
    const draw = randomStream(seed, ...labels);
    this.#prefix = `req_${hexOf(draw())}${hexOf(draw())}`;
    this.#salt = draw();
  }

  /** Takes the number of the next request in its series, and its id: `req_` and 24 hex digits. */
  next(): { readonly number: number; readonly id: string } {
    this.#count += 1;
    return { number: this.#count, id: this.#prefix + hexOf(mix32(this.#count ^ this.#salt)) };
  }

  count(): number {
    return this.#count;
  }
}
