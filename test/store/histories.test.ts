import { describe, expect, test } from "vitest";
import { type History, linearize, type Seen } from "../../scripts/histories/linearize.js";
import type { Operation } from "../../scripts/histories/model.js";
import { check, runHistories } from "../../scripts/histories/run.js";
import { noRedis } from "../support/redis-server.js";

// What clients saw of three replicas, and what finds out whether one sandbox can have responded to so. `npm run histories` does
// it with many more histories, and while replicas and Redis fail.

/** Operations of a history: each with when it was sent and responded. Without a response, its outcome is not known. */
function history(...rows: readonly (readonly [number, number, Operation, string?])[]): History {
  return rows.map(
    ([sent, responded, operation, outcome], index): Seen => ({
      ...{ client: `client ${index}`, replica: index % 3, operation, sent, outcome },
      responded: outcome === undefined ? Number.POSITIVE_INFINITY : responded,
    }),
  );
}

const request = (key: string): Operation => ({ do: "request", key });
const revoke = (key: string): Operation => ({ do: "revoke", key });
const create = (ref: string): Operation => ({ do: "create", ref, organization: "bank" });
const organization = (active: boolean): Operation => ({ do: "organization", ref: "bank", active });
const later: Operation = { do: "advance", by: 1 };
const list: Operation = { do: "list" };

describe("a history is explained", () => {
  test.each<[string, History]>([
    ["of nothing", history()],
    [
      "of a request at the same time as a revoke, either way",
      history(
        [0, 9, revoke("a"), "200"],
        [1, 8, request("a"), "200 today 1"],
        [2, 8, request("a"), "401 unauthorized"],
      ),
    ],
    [
      "of requests that were counted in another order than they were responded to",
      history([0, 5, request("a"), "200 today 2"], [1, 9, request("a"), "200 today 1"]),
    ],
    [
      "of a revoke of which nothing is known, and which happened late",
      history(
        [0, 0, revoke("a")],
        [1, 2, request("a"), "200 today 1"],
        [3, 4, request("a"), "401 unauthorized"],
      ),
    ],
    [
      "of a revoke of which nothing is known, and which never happened",
      history([0, 0, revoke("a")], [1, 2, request("a"), "200 today 1"], [3, 4, request("a"), "200 today 2"]),
    ],
    [
      "of a request that was counted, and whose response was lost",
      history(
        [0, 0, request("b")],
        [1, 2, request("b"), "200 today 2"],
        [3, 4, request("b"), "429 rate_limited"],
      ),
    ],
    [
      "of a minute that is over",
      history(
        [0, 1, request("b"), "200 today 1"],
        [0, 1, request("b"), "200 today 2"],
        [2, 3, later, "200 2026-03-02T09:01:00.000Z"],
        [4, 5, request("b"), "200 today 3"],
      ),
    ],
    [
      "of a rotation with an overlap",
      history(
        [0, 1, { do: "rotate", key: "d", as: "e", overlap: 1 }, "201"],
        [2, 3, request("d"), "200 today 1"],
        [2, 3, list, "200 a active 0/0, b active 0/0, c active 0/0, d retiring 1/1, e active 0/0"],
        [4, 5, later, "200 2026-03-02T09:01:00.000Z"],
        [6, 7, request("d"), "401 unauthorized"],
        [6, 7, list, "200 a active 0/0, b active 0/0, c active 0/0, d rotated 0/1, e active 0/0"],
      ),
    ],
  ])("%s", (_, seen) => {
    expect(linearize(seen).is).toBe("linearizable");
  });
});

describe("a history is not explained", () => {
  test.each<[string, History]>([
    [
      "a stale response after a revoke",
      history([0, 1, revoke("a"), "200"], [2, 3, request("a"), "200 today 1"]),
    ],
    [
      "a 200 too many",
      history(
        [0, 9, request("b"), "200 today 1"],
        [0, 9, request("b"), "200 today 2"],
        [0, 9, request("b"), "200 today 3"],
        [10, 11, later, "200 2026-03-02T09:01:00.000Z"],
      ),
    ],
    [
      "a 429 too many",
      history([0, 1, request("b"), "200 today 1"], [0, 1, request("b"), "429 rate_limited"]),
    ],
    [
      "two requests counted as one",
      history([0, 9, request("a"), "200 today 1"], [0, 9, request("a"), "200 today 1"]),
    ],
    [
      "one request counted twice",
      history([0, 1, request("a"), "200 today 1"], [2, 3, request("a"), "200 today 3"]),
    ],
    [
      "a request of which nothing is known, counted twice",
      history([0, 0, request("a")], [2, 3, request("a"), "200 today 3"]),
    ],
    [
      "a lost key",
      history(
        [0, 1, create("e"), "201"],
        [2, 3, list, "200 a active 0/0, b active 0/0, c active 0/0, d active 0/0"],
      ),
    ],
    ["a key made twice", history([0, 9, create("e"), "201"], [0, 9, create("e"), "201"])],
    [
      "a key that is there twice",
      history(
        [0, 1, create("e"), "201"],
        [
          2,
          3,
          list,
          "200 a active 0/0, b active 0/0, c active 0/0, d active 0/0, e active 0/0, e active 0/0",
        ],
      ),
    ],
    ["a sixth active key", history(...["e", "f", "g"].map((ref) => [0, 9, create(ref), "201"] as const))],
    [
      "a revoke that was undone",
      history(
        [0, 1, revoke("a"), "200"],
        [2, 3, request("a"), "401 unauthorized"],
        [4, 5, list, "200 a active 0/0, b active 0/0, c active 0/0, d active 0/0"],
      ),
    ],
    [
      "two replicas that go different ways",
      history(
        [0, 1, organization(false), "200 inactive"],
        [2, 3, request("a"), "403 access_denied"],
        [4, 5, request("a"), "200 today 1"],
      ),
    ],
    [
      "a response from before another one that was read already",
      history(
        [0, 9, revoke("a"), "200"],
        [1, 2, list, "200 a revoked 0/0, b active 0/0, c active 0/0, d active 0/0"],
        [3, 4, list, "200 a active 0/0, b active 0/0, c active 0/0, d active 0/0"],
      ),
    ],
  ])("%s", (_, seen) => {
    expect(linearize(seen).is).toBe("not linearizable");
  });

  test("and shows what the clients saw, how far an order goes, and what does not fit", () => {
    const seen = history([0, 1, revoke("a"), "200"], [2, 3, request("a"), "200 today 1"]);
    expect(check(seen).join("\n")).toMatchInlineSnapshot(`
      "it is not linearizable
          what the clients saw:
            0.0–1.0 client 0 on 0: revoke a → 200
            2.0–3.0 client 1 on 1: request a → 200 today 1
          the longest order that explains it:
            0.0–1.0 client 0 on 0: revoke a → 200
          none of these can follow:
            2.0–3.0 client 1 on 1: request a → 200 today 1; in this order it gets 401 unauthorized"
    `);
  });
});

describe.skipIf(noRedis)("three replicas over a Redis", () => {
  test("respond to many clients at once as one sandbox does", { timeout: 120_000 }, async () => {
    const found = await runHistories({ count: 30, seed: 1 });
    expect(found.failures).toEqual([]);
    expect(found.histories).toBe(30);
    expect(found.operations).toBeGreaterThan(30 * 20);
  });
});
