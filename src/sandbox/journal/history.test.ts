import { expect, test } from "vitest";
import type { Exchange } from "./exchange.js";
import { type Beginning, createHistory } from "./history.js";

const request = (number: number) => ({ number, at: number, isRepeatable: true }) as Exchange;
const numbers = (exchanges: readonly Exchange[]) => exchanges.map(({ number }) => number);
const look = () => undefined;
const openHistory = (looking: () => Beginning | undefined, capacity?: number) => {
  const history = createHistory<{ type: string }>(looking, capacity);
  history.enter();
  return history;
};
const open = (capacity: number) => openHistory(look, capacity);

test("the last requests are kept, oldest first, however many other events come between them; all are counted", () => {
  const history = open(3);
  for (let i = 1; i <= 5; i++) {
    history.record(request(i));
    for (let other = 0; other < 10; other++) history.announce({ type: "other" });
  }
  expect(numbers(history.requests())).toEqual([3, 4, 5]);
  expect(history.total()).toBe(5);
});

test("a new start discards the requests, and events can be resumed from before it", () => {
  const history = open(3);
  for (let i = 1; i <= 3; i++) history.record(request(i));
  history.enter();
  history.record(request(9));
  expect([numbers(history.requests()), history.total()]).toEqual([[9], 1]);
  expect(history.since(2)?.map(({ position }) => position)).toEqual([3, 4]);
});

test("requests from before a restored journal come before those since, and are pushed out by them", () => {
  const history = open(3);
  history.record(request(1));
  history.enter(undefined, [7, 8, 9].map(request), 40);
  history.record(request(10));
  expect([numbers(history.requests()), history.total()]).toEqual([[8, 9, 10], 41]);
  expect(history.since(0)).toHaveLength(2);
});

test("events come in order, and none once a requested event is no longer kept", () => {
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

test("an operation is listed between the requests before and after it, announced or not", () => {
  const history = openHistory(() => ({ scenario: { version: 1 }, at: 0 }));
  const operation = (name: "revoke" | "faults") => ({
    ...{ name, input: {}, actor: undefined, at: 5, rejection: undefined, made: undefined },
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

test("the last requests are kept up to a number of bytes; earlier requests stay counted, and are not events", () => {
  const history = open(5);
  const response = { status: 404, headers: [], body: "x".repeat(300) };
  const long = (number: number) =>
    ({ ...request(number), path: "", response, client: [] }) as unknown as Exchange;
  history.enter(undefined, [1, 2, 3].map(long), 40);
  for (let i = 4; i <= 6; i++) history.record(long(i));
  expect(history.bytes()).toBe(6000);
  history.keep(4000);
  expect([numbers(history.requests()), history.total(), history.bytes()]).toEqual([[3, 4, 5, 6], 43, 4000]);
  expect(history.since(0)).toHaveLength(3);
  history.keep(2500);
  expect([numbers(history.requests()), history.total(), history.bytes()]).toEqual([[5, 6], 43, 2000]);
  expect([history.since(0), history.since(1)?.length]).toEqual([undefined, 2]);
  for (let i = 7; i <= 11; i++) history.record(long(i));
  expect(numbers(history.requests())).toEqual([7, 8, 9, 10, 11]);
});

test("a capture starts after requests that were discarded", () => {
  let at = 0;
  const history = openHistory(() => ({ scenario: { version: 1 }, at }));
  const response = { status: 404, headers: [], body: "" };
  const plain = (number: number) =>
    ({ ...request(number), path: "", response, client: [] }) as unknown as Exchange;
  for (let i = 1; i <= 500; i++) history.record(plain(i));
  at = 501;
  // The second stretch begins after request 480.
  history.keep(20 * 700);
  expect([history.recorded().beginning?.at, history.recorded().entries.length]).toEqual([0, 20]);
  history.keep(19 * 700);
  expect([history.recorded().beginning?.at, history.recorded().entries.length]).toEqual([501, 0]);
});
