import { expect, test } from "vitest";
import type { Exchange } from "./exchange.js";
import { History } from "./history.js";

const request = (number: number) => ({ number, at: number }) as Exchange;
const numbers = (exchanges: readonly Exchange[]) => exchanges.map(({ number }) => number);
const open = (capacity: number) => new History<{ type: string }>(capacity);

test("the last requests are kept, oldest first, however many other events come between them; all are counted", () => {
  const history = open(3);
  for (let i = 1; i <= 5; i++) {
    history.record(request(i));
    for (let other = 0; other < 10; other++) history.emit({ type: "other" });
  }
  expect(numbers(history.requests())).toEqual([3, 4, 5]);
  expect(history.total()).toBe(5);
});

test("requests from before a restored journal come before those since, and are pushed out by them", () => {
  const history = open(3);
  history.record(request(1));
  history.enter([7, 8, 9].map(request), 40);
  history.record(request(10));
  expect([numbers(history.requests()), history.total()]).toEqual([[8, 9, 10], 41]);
});
