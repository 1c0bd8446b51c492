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

test("ids go on where another world left off", () => {
  const whole = createRequestIds(1);
  for (let i = 0; i < 5; i++) whole.next();
  const rest = createRequestIds(1, whole.answered());
  expect(rest.idOf(rest.next())).toBe(whole.idOf(whole.next()));
});
