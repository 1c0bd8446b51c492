import { expect, test } from "vitest";
import type { Exchange } from "./exchange.js";
import { Journal } from "./journal.js";

const request = (number: number) => ({ number, at: number }) as Exchange;
const numbers = (exchanges: readonly Exchange[]) => exchanges.map(({ number }) => number);

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

test("the last requests are kept, oldest first, however many other events come between them; all are counted", () => {
  const journal = new Journal();
  for (let i = 1; i <= 1200; i++) {
    journal.record(request(i));
    for (let other = 0; other < 10; other++) journal.emit({ type: "faults.changed" });
  }
  expect(numbers(journal.requests())).toEqual(range(201, 1200));
  expect(journal.total()).toBe(1200);
});

test("requests from before a restored journal come before those since, and are pushed out by them", () => {
  const journal = new Journal();
  journal.record(request(1));
  journal.replaceWith(range(2, 1001).map(request), 4000);
  journal.record(request(1002));
  expect([numbers(journal.requests()), journal.total()]).toEqual([range(3, 1002), 4001]);
});

test("a request that the story sends is no second attempt of a client's request that a fault hit", () => {
  const failed = {
    method: "GET",
    path: "/",
    fingerprint: "abc",
    fault: "fault.status",
    outcome: "fault.status",
  };
  const sent = (number: number, fromStory: boolean) => ({ ...failed, number, fromStory }) as Exchange;
  const numbersOf = (...exchanges: Exchange[]) => {
    const journal = new Journal();
    journal.replaceWith(exchanges, exchanges.length);
    return numbers(journal.requests({ source: "client", faults: false }));
  };
  expect(numbersOf(sent(1, false), sent(2, true))).toEqual([1]);
  expect(numbersOf(sent(1, false), sent(2, false))).toEqual([2]);
});
