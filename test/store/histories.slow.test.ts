import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { explain, type Seen } from "../../scripts/histories/linearize.js";
import { firstState, type Operation, step, textOf } from "../../scripts/histories/model.js";
import { runHistories } from "../../scripts/histories/run.js";
import type { Model } from "../model/specification-model.js";
import { propertySeed } from "../support/property-seed.js";
import { noRedis } from "../support/redis-server.js";

// What clients saw of three servers, and what finds out whether one sandbox can have responded to so. `npm run histories` does
// it with many more histories.

/** When an operation was sent and responded, and its outcome. Without that, it is not known. */
type Row = readonly [sent: number, responded: number, Operation, outcome?: string];

const seenOf = (rows: readonly Row[]) =>
  rows.map(([sent, responded, operation, outcome], index): Seen => {
    const end = outcome === undefined ? Number.POSITIVE_INFINITY : responded;
    return { client: `client ${index}`, server: index % 3, operation, sent, responded: end, outcome };
  });

const request = (key: string): Operation => ({ do: "request", key });
const revoke = (key: string): Operation => ({ do: "revoke", key });
const create = (ref: string): Operation => ({ do: "create", ref });
const rotate: Operation = { do: "rotate", key: "d", ref: "e", minutes: 1 };
const later: Operation = { do: "advance", minutes: 1 };
const list: Operation = { do: "list" };
const first = "200 a active 0/0, b active 0/0, c active 0/0, d active 0/0";
const rotated = (state: string) => `${first.replace("d active 0/0", `d ${state}`)}, e active 0/0`;
const [one, two, three] = ["200 today 1", "200 today 2", "200 today 3"] as const;
const [limited, unauthorized] = ["429 rate_limited", "401 unauthorized"] as const;
const next = "200 2026-03-02T09:01:00.000Z";

test.each<[string, ...Row[]]>([
  ["nothing"],
  [
    "a request at the same time as a revoke, either way",
    [0, 9, revoke("a"), "200"],
    [1, 8, request("a"), one],
    [2, 8, request("a"), unauthorized],
  ],
  ["requests that were counted in another order", [0, 5, request("a"), two], [1, 9, request("a"), one]],
  [
    "an unknown revoke that happened late",
    [0, 0, revoke("a")],
    [1, 2, request("a"), one],
    [3, 4, request("a"), unauthorized],
  ],
  [
    "an unknown revoke that never happened",
    [0, 0, revoke("a")],
    [1, 2, request("a"), one],
    [3, 4, request("a"), two],
  ],
  [
    "a request that was counted, and whose response was lost",
    [0, 0, request("b")],
    [1, 2, request("b"), two],
    [3, 4, request("b"), limited],
  ],
  [
    "a minute that is over",
    [0, 1, request("b"), one],
    [0, 1, request("b"), two],
    [2, 3, later, next],
    [4, 5, request("b"), three],
  ],
  [
    "a rotation with an overlap",
    [0, 1, rotate, "201"],
    [2, 3, request("d"), one],
    [2, 3, list, rotated("retiring 1/1")],
    [4, 5, later, next],
    [6, 7, request("d"), unauthorized],
    [6, 7, list, rotated("rotated 0/1")],
  ],
])("an order explains %s", (_, ...rows) => {
  expect(explain(seenOf(rows))).toBeUndefined();
});

test.each<[string, ...Row[]]>([
  ["a stale response after a revoke", [0, 1, revoke("a"), "200"], [2, 3, request("a"), one]],
  [
    "a 200 too many",
    [0, 9, request("b"), one],
    [0, 9, request("b"), two],
    [0, 9, request("b"), three],
    [10, 11, later, next],
  ],
  ["a 429 too many", [0, 1, request("b"), one], [0, 1, request("b"), limited]],
  ["two requests counted as one", [0, 9, request("a"), one], [0, 9, request("a"), one]],
  ["one request counted twice", [0, 1, request("a"), one], [2, 3, request("a"), three]],
  ["an unknown request, counted twice", [0, 0, request("a")], [2, 3, request("a"), three]],
  ["a lost key", [0, 1, create("e"), "201"], [2, 3, list, first]],
  ["a key made twice", [0, 9, create("e"), "201"], [0, 9, create("e"), "201"]],
  [
    "a key that is there twice",
    [0, 1, create("e"), "201"],
    [2, 3, list, `${first}, e active 0/0, e active 0/0`],
  ],
  ["a sixth active key", [0, 9, create("e"), "201"], [0, 9, create("f"), "201"]],
  [
    "a revoke that was undone",
    [0, 1, revoke("a"), "200"],
    [2, 3, request("a"), unauthorized],
    [4, 5, list, first],
  ],
  [
    "a response from before another one that was read already",
    [0, 9, revoke("a"), "200"],
    [1, 2, list, first.replace("a active", "a revoked")],
    [3, 4, list, first],
  ],
])("no order explains %s", (_, ...rows) => {
  expect(explain(seenOf(rows))).toMatch("no order explains it");
});

test("a failure shows what the clients saw, how far an order goes, and what does not fit", () => {
  const rows: Row[] = [
    [0, 1, revoke("a"), "200"],
    [2, 3, request("a"), one],
  ];
  expect(explain(seenOf(rows))).toMatchInlineSnapshot(`
    "no order explains it
        what the clients saw:
        0.0–1.0 client 0 on 0: revoke a → 200
        2.0–3.0 client 1 on 1: request a → 200 today 1
        the longest order that explains a part:
        0.0–1.0 client 0 on 0: revoke a → 200
        none of these can follow:
        2.0–3.0 client 1 on 1: request a → 200 today 1; in this order it gets 401 unauthorized"
  `);
});

const key = fc.constantFrom("a", "b", "e", "f");
const ref = fc.constantFrom("e", "f");
const minutes = fc.constantFrom(0, 1, 30);
const someOperation: fc.Arbitrary<Operation> = fc.oneof(
  key.map(request),
  key.map(revoke),
  ref.map(create),
  fc.record({ do: fc.constant("rotate"), key, ref, minutes }),
  fc.constantFrom(later, list),
);
const someOperations = fc.array(someOperation, { maxLength: 10 });
// The same operations in another order, some with another new key or other minutes.
const twoWays = fc.array(fc.tuple(someOperation, ref, minutes), { maxLength: 6 }).chain((changes) => {
  const others = changes.map(([operation, ref, minutes]) => ({
    ...operation,
    ...(operation.ref === undefined ? {} : { ref }),
    ...(operation.do === "rotate" ? { minutes } : {}),
  }));
  const before = changes.map(([operation]) => operation);
  return fc.tuple(
    fc.constant(before),
    fc.shuffledSubarray(others, { minLength: Math.max(0, others.length - 1) }),
  );
});

// Reach the limits of new keys and the ends of overlaps.
const probes = ["e", "f"].flatMap((ref) => [request(ref), request(ref), request(ref), request(ref)]);
const laterLists: Operation[] = [list, later, list, { do: "advance", minutes: 30 }, list];

test("no operation distinguishes states with the same text", () => {
  let pairs = 0;
  fc.assert(
    fc.property(twoWays, someOperations, ([one, other], after) => {
      const [state, same] = [lastOf(one, firstState()), lastOf(other, firstState())];
      fc.pre(textOf(state) === textOf(same));
      if (JSON.stringify(state) !== JSON.stringify(same)) pairs += 1;
      const all = [...after, ...probes, ...laterLists];
      expect(outcomesOf(all, same)).toEqual(outcomesOf(all, state));
    }),
    { ...propertySeed, numRuns: 3000, maxSkipsPerRun: 1000 },
  );
  // Also states that differ in what the text leaves out.
  expect(pairs).toBeGreaterThan(50);
});

const lastOf = (all: readonly Operation[], from: Model) =>
  all.reduce((state, next) => step(state, next).state, from);

function outcomesOf(all: readonly Operation[], from: Model): string[] {
  let state = from;
  return all.map((operation) => {
    const { outcome, state: next } = step(state, operation);
    state = next;
    return outcome;
  });
}

describe.skipIf(noRedis)("three servers over a Redis", () => {
  test("respond to many clients at once as one sandbox does", { timeout: 120_000 }, async () => {
    const { operations, open, failures } = await runHistories(8, 1, false);
    expect([failures, open]).toEqual([[], 0]);
    expect(operations).toBeGreaterThan(8 * 300);
  });

  test("lose, double and age nothing while servers, Redis and connections fail", {
    timeout: 300_000,
  }, async () => {
    const { failed, open, failures } = await runHistories(4, 1, true);
    expect(failures).toEqual([]);
    expect(open).toBeLessThan(4);
    expect(Object.keys(failed?.counts ?? {}).length).toBeGreaterThan(2);
  });
});
