import { mix32, randomStream } from "../domain/seed.js";

const hexByte = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, "0"));

/** The request ids of a world. */
export interface RequestIds {
  /** Counts one more request; answers its number, from 1 on. */
  readonly next: () => number;
  /** The id of the request of a number: `req_` and 24 hex digits. */
  readonly idOf: (number: number) => string;
  /** How many requests were counted. */
  readonly answered: () => number;
}

/**
 * Makes the source of a world's request ids (R7).
 *
 * The n-th id depends on the seed and n alone; within a world the first 2³² differ, because the mixing is one to one.
 * `answered` requests are taken to have had theirs.
 */
export function createRequestIds(seed: number, answered = 0): RequestIds {
  const draw = randomStream(seed, "request.id");
  const start = `req_${hex(draw())}${hex(draw())}`;
  const salt = draw();
  let count = answered;
  return {
    next() {
      count += 1;
      return count;
    },
    idOf: (number) => start + hex(mix32(number ^ salt)),
    answered: () => count,
  };
}

function hex(value: number): string {
  return (
    (hexByte[value >>> 24] as string) +
    hexByte[(value >>> 16) & 255] +
    hexByte[(value >>> 8) & 255] +
    hexByte[value & 255]
  );
}
