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

test("R7 each series has its own ids, and continues after the number of its last request", () => {
  const take = (ids: RequestIds) => Array.from({ length: 1000 }, () => ids.next().id);
  const first = new RequestIds(1);
  const firstIds = take(first);
  const next = new RequestIds(1, first.series + 1, first.count());
  const continued = new RequestIds(1, next.series, next.count());
  const nextIds = take(next);
  expect(new Set([...firstIds, ...nextIds]).size).toBe(2000);
  expect(take(continued)).toEqual(nextIds);
  expect([next.series, next.count(), next.next().number]).toEqual([1, 2000, 2001]);
});
