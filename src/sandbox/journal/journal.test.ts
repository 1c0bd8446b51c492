import { expect, test } from "vitest";
import type { Exchange } from "./exchange.js";
import { Journal } from "./journal.js";

const request = (number: number) => ({ number, at: number }) as Exchange;
const numbers = (exchanges: readonly Exchange[]) => exchanges.map(({ number }) => number);

test("the last requests are kept, oldest first, however many other events come between them; all are counted", () => {
  const journal = new Journal(3);
  for (let i = 1; i <= 5; i++) {
    journal.record(request(i));
    for (let other = 0; other < 10; other++) journal.emit({ type: "faults.changed" });
  }
  expect(numbers(journal.requests())).toEqual([3, 4, 5]);
  expect(journal.total()).toBe(5);
});

test("requests from before a restored journal come before those since, and are pushed out by them", () => {
  const journal = new Journal(3);
  journal.record(request(1));
  journal.replaceWith([7, 8, 9].map(request), 40);
  journal.record(request(10));
  expect([numbers(journal.requests()), journal.total()]).toEqual([[8, 9, 10], 41]);
});
