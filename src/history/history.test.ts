import { expect, test } from "vitest";
import type { Exchange } from "./exchange.js";
import { createHistory } from "./history.js";

const request = (number: number) => ({ number, at: number, isRepeatable: true }) as Exchange;
const numbers = (exchanges: readonly Exchange[]) => exchanges.map(({ number }) => number);
const look = () => undefined;
const open = (capacity: number) => createHistory<{ type: string }>({ look }, capacity);

test("the last requests are kept, oldest first, however many other events come between them; all are counted", () => {
  const history = open(3);
  for (let i = 1; i <= 5; i++) {
    history.record(request(i));
    for (let other = 0; other < 10; other++) history.announce({ type: "other" });
  }
  expect(numbers(history.requests())).toEqual([3, 4, 5]);
  expect(history.total()).toBe(5);
});

test("clear discards the requests, and events can be resumed from before it", () => {
  const history = open(3);
  for (let i = 1; i <= 3; i++) history.record(request(i));
  history.clear();
  history.record(request(9));
  expect([numbers(history.requests()), history.total()]).toEqual([[9], 1]);
  expect(history.since(2)?.map(({ position }) => position)).toEqual([3, 4]);
});

test("requests from before the world entered come before those since, and are pushed out by them", () => {
  const history = open(3);
  history.record(request(1));
  history.enter({ look, requests: [7, 8, 9].map(request), total: 40 });
  history.record(request(10));
  expect([numbers(history.requests()), history.total()]).toEqual([[8, 9, 10], 41]);
  expect(history.since(0)).toHaveLength(2);
});

test("events come in order of all, and none of them once one is no longer kept", () => {
  const history = open(2);
  const types = (position: number) => history.since(position)?.map(({ entry: { type } }) => type);
  history.announce({ type: "a" });
  history.record(request(1));
  history.announce({ type: "b" });
  expect([types(0), types(2), types(3), types(4)]).toEqual([["a", "request", "b"], ["b"], [], undefined]);
  history.record(request(2));
  history.record(request(3));
  expect([types(1), types(2)]).toEqual([undefined, ["b", "request", "request"]]);
});

test("an operation stands between the requests before and after it, whether or not it was announced", () => {
  const history = createHistory<{ type: string }>({ look: () => ({ scenario: { version: 1 }, at: 0 }) });
  const operation = (name: "revoke" | "faults") => ({
    ...{ name, input: {}, actor: undefined, at: 5, refusal: undefined, made: undefined, consent: undefined },
  });
  history.record(request(1));
  history.operation(operation("revoke"));
  history.record(request(5));
  history.announce({ type: "faults.changed" });
  history.operation(operation("faults"));
  history.record(request(6));
  const order = history.recorded().entries.map((one) => ("name" in one ? one.name : one.number));
  expect(order).toEqual([1, "revoke", 5, "faults", 6]);
});
