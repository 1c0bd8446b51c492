import { drawsFor, mix32 } from "../domain/seed.js";

const hexByte = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, "0"));

/**
 * Makes the source of a world's request ids: each call gives the next, `req_` and 24 hex digits (R7).
 *
 * The n-th id depends on the seed and n alone; within a world the first 2³² differ, because the mixing is one to one.
 */
export function createRequestIds(seed: number): () => string {
  const draw = drawsFor(seed, "request.id");
  const start = `req_${hex(draw())}${hex(draw())}`;
  const salt = draw();
  let count = 0;
  return () => {
    count += 1;
    return start + hex(mix32(count ^ salt));
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
