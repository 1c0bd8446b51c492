import { expect, test } from "vitest";
import type { PathId } from "../../spec/outcomes.js";
import { createCounters } from "./counts.js";
import type { Exchange } from "./exchange.js";

const exchange = (pathId: PathId, fields: Partial<Exchange> = {}) =>
  ({
    id: "req_1",
    at: 0,
    method: "GET",
    path: "/",
    key: null,
    fingerprint: null,
    ...fault,
    pathId,
    ...fields,
  }) as Exchange;
const fault = { fault: null, operation: "getRelyingPartyContext", advice: [] };

test("a path is met by a request, but not by one whose key was in another header, and stays met", () => {
  const counters = createCounters();
  const met = (pathId: PathId) => {
    const row = counters.read().paths[pathId];
    return [row?.count, row?.isMet];
  };
  for (const pathId of ["401.missing", "401.malformed"] as const) {
    counters.count(exchange(pathId, { advice: ["key-in-authorization"] }));
    expect(met(pathId)).toEqual([1, false]);
    counters.count(exchange(pathId));
    counters.count(exchange(pathId, { advice: ["key-in-authorization"] }));
    expect(met(pathId)).toEqual([3, true]);
  }
  counters.count(exchange("403.insufficient_scope", { advice: ["key-in-authorization"] }));
  expect(met("403.insufficient_scope")).toEqual([1, true]);
});

test("a success of another endpoint than /me has a count of its own, and each endpoint one of its requests", () => {
  const counters = createCounters();
  counters.count(exchange("201.createThing", { operation: "createThing" }));
  counters.count(exchange("401.revoked", { operation: "createThing" }));
  counters.count(exchange("404.unknown_path", { operation: null }));
  const { paths, endpoints, requests } = counters.read();
  expect(paths["201.createThing"]).toEqual({ count: 1, isMet: true });
  expect(paths["401.revoked"]).toEqual({ count: 1, isMet: true });
  expect([endpoints, requests]).toEqual([{ createThing: 2 }, 3]);
});

test("counts that are restored are those that were read, pass nothing on, and are gone once cleared", () => {
  const [counters, others, copy] = [createCounters(), createCounters(), createCounters()];
  counters.passOnTo(others);
  counters.count(exchange("401.unknown", { advice: ["key-in-query"] }));
  counters.countUnread();
  const own = createCounters().read();
  expect([others.read(), counters.read().unread]).toEqual([{ ...counters.read(), own }, 1]);
  copy.passOnTo(others);
  copy.restore(counters.read());
  expect([copy.read(), others.readOwn()]).toEqual([counters.read(), own]);
  copy.clear();
  expect([copy.read(), others.read().requests]).toEqual([createCounters().read(), 1]);
});
