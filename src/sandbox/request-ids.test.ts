import { expect, test } from "vitest";
import { numberInSeries, positionInSeries, RequestIds } from "./request-ids.js";

test("R7 the ids of a seed are the same again, differ from each other, and differ between seeds", () => {
  const take = (seed: number) => {
    const ids = new RequestIds(seed);
    return Array.from({ length: 10_000 }, () => ids.next().id);
  };
  expect(take(1)).toEqual(take(1));
  expect(new Set([...take(1), ...take(2)]).size).toBe(20_000);
  expect(take(1)[0]).toMatch(/^req_[0-9a-f]{24}$/);
});

test("R7 each series has its own ids, and continues from the number of its last request", () => {
  const take = (ids: RequestIds) => Array.from({ length: 1000 }, () => ids.next().id);
  const ids = new RequestIds(1);
  const first = take(ids);
  const next = new RequestIds(1, numberInSeries(7, ids.latestNumber()));
  const later = take(next);
  expect(new Set([...first, ...later]).size).toBe(2000);
  expect(take(new RequestIds(1, next.latestNumber()))).toEqual(take(next));
  // An id of an earlier series is still known.
  expect(next.idOf(1)).toBe(first[0]);
});

test("request ids continue in any series, and a number keeps its place in its series", () => {
  const ids = new RequestIds(1, 2 ** 32 + 5);
  expect([ids.series(), ids.next().number, ids.latestNumber()]).toEqual([1, 2 ** 32 + 6, 2 ** 32 + 6]);
  expect(ids.idOf(7)).toBe(new RequestIds(1).idOf(7));
  expect(ids.idOf(7)).not.toBe(ids.idOf(2 ** 32 + 7));
  expect([
    numberInSeries(2, 2 ** 32 + 5),
    numberInSeries(2 ** 21 + 1, 5),
    positionInSeries(2 ** 33 + 5),
  ]).toEqual([2 ** 33 + 5, 2 ** 32 + 5, 5]);
});
