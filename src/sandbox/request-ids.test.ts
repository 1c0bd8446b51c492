import { expect, test } from "vitest";
import { RequestIds } from "./request-ids.js";

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
  const next = ids.nextSeries(1, ids.countInSeries());
  const later = take(next);
  expect(new Set([...first, ...later]).size).toBe(2000);
  expect(take(new RequestIds(1, next.latestNumber()))).toEqual(take(next));
  // An id of an earlier series is still known.
  expect(next.idOf(1)).toBe(first[0]);
});

test("request ids continue in any series, and a number has its id in each of them", () => {
  const ids = new RequestIds(1, 2 ** 32 + 5);
  expect(ids.next().number).toBe(2 ** 32 + 6);
  expect([ids.latestNumber(), ids.countInSeries()]).toEqual([2 ** 32 + 6, 6]);
  expect(ids.idOf(7)).toBe(new RequestIds(1).idOf(7));
  expect(ids.idOf(7)).not.toBe(ids.idOf(2 ** 32 + 7));
});

test("a restart begins the next series", () => {
  const ids = new RequestIds(1, 2 ** 32 + 9).nextSeries(1, 5);
  expect(ids.latestNumber()).toBe(2 ** 33 + 5);
});
