import { expect, test } from "vitest";
import { createRequestIds } from "./request-ids.js";

test("R7 the ids of a seed are the same again, differ from each other, and differ between seeds", () => {
  const take = (seed: number) => {
    const { next, idOf } = createRequestIds(seed);
    return Array.from({ length: 10_000 }, () => idOf(next()));
  };
  expect(take(1)).toEqual(take(1));
  expect(new Set([...take(1), ...take(2)]).size).toBe(20_000);
  expect(take(1)[0]).toMatch(/^req_[0-9a-f]{24}$/);
});

test("R7 each series has ids of its own, and goes on from the number of its last request", () => {
  const take = (ids: ReturnType<typeof createRequestIds>) =>
    Array.from({ length: 1000 }, () => ids.idOf(ids.next()));
  const ids = createRequestIds(1);
  const first = take(ids);
  ids.enter(7);
  const later = take(ids);
  expect(new Set([...first, ...later]).size).toBe(2000);
  expect(take(createRequestIds(1, ids.answered()))).toEqual(take(ids));
  // An id of an earlier series is still known.
  expect(ids.idOf(1)).toBe(first[0]);
});
