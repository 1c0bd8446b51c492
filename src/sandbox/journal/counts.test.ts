import { expect, test } from "vitest";
import type { PathId } from "../../rules/outcomes.js";
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

test("a success of another endpoint than /me has a count of its own, and each endpoint one of its requests", () => {
  const counters = createCounters();
  counters.count(exchange("201.createThing", { operation: "createThing" }));
  counters.count(exchange("401.revoked", { operation: "createThing" }));
  counters.count(exchange("404.unknown_path", { operation: null }));
  const { paths, endpoints, requests } = counters.read();
  expect(paths["201.createThing"]).toEqual({ count: 1, isCovered: true });
  expect(paths["401.revoked"]).toEqual({ count: 1, isCovered: true });
  expect([endpoints, requests]).toEqual([{ createThing: 2 }, 3]);
});
