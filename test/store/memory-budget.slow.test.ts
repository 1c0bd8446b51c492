import { expect, test } from "vitest";
import { createMemoryBudget } from "../../src/node/memory.js";

/** A budget of 100 bytes; of the heap, `live` bytes are left by a collection. */
function budgeted() {
  const heap = { live: 0, garbage: 0, now: 0, collections: 0, discarded: 0 };
  const discard = () => {
    heap.discarded += 1;
  };
  const budget = createMemoryBudget(100, discard, {
    heapUsed: () => heap.live + heap.garbage,
    collect() {
      heap.garbage = 0;
      heap.collections += 1;
    },
    stopwatch: () => heap.now,
  });
  return { heap, budget };
}

test("without other functions, the memory of this process is measured, after a real collection", () => {
  let discarded = 0;
  const budget = createMemoryBudget(1, () => {
    discarded += 1;
  });
  budget.check();
  expect([discarded, budget.status().isFull, budget.status().used > 1_000_000]).toEqual([1, true, true]);
  expect(budget.requireRoom).toThrow(full);
});

const full = expect.objectContaining({ code: "memory_limit_reached" });

test("garbage takes no room, and is collected only where it might be the reason", () => {
  const { heap, budget } = budgeted();
  Object.assign(heap, { live: 50, garbage: 35 });
  budget.requireRoom();
  budget.check();
  expect(heap.collections).toBe(0);
  heap.garbage = 500;
  budget.requireRoom();
  expect([heap.collections, heap.discarded, budget.status()]).toEqual([
    1,
    0,
    { max: 100, used: 50, isFull: false },
  ]);
});

test("journals are discarded before the budget is used up, once for each collection", () => {
  const { heap, budget } = budgeted();
  heap.live = 90;
  budget.check();
  budget.requireRoom();
  heap.now = 4999;
  budget.check();
  expect([heap.collections, heap.discarded]).toEqual([1, 1]);
  heap.now = 5000;
  budget.check();
  expect([heap.collections, heap.discarded, budget.status().isFull]).toEqual([2, 2, false]);
});

test("above the budget there is no room, and there is soon after something went", () => {
  const { heap, budget } = budgeted();
  heap.live = 101;
  expect(() => budget.requireRoom()).toThrow(full);
  expect(budget.status()).toEqual({ max: 100, used: 101, isFull: true });
  Object.assign(heap, { live: 60, garbage: 50, now: 999 });
  expect(() => budget.requireRoom()).toThrow(full);
  heap.now = 1000;
  budget.requireRoom();
  expect(budget.status()).toEqual({ max: 100, used: 60, isFull: false });
});
