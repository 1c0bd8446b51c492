import fc from "fast-check";
import { expect, test } from "vitest";
import { minimize } from "./narrow.js";

const items = Array.from({ length: 120 }, (_, i) => i);

/** Fails when all the planted items are there; counts how often it was asked. */
function oracle(planted: readonly number[]) {
  const asked = { times: 0 };
  const fails = async (some: readonly number[]) => {
    asked.times += 1;
    return planted.every((item) => some.includes(item));
  };
  return { fails, asked };
}

test("finds the items that were planted, and nothing else", async () => {
  const few = items.slice(0, 24);
  const planted = fc.uniqueArray(fc.constantFrom(...few), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(planted, async (some) => {
      const { fails } = oracle(some);
      expect([...(await minimize(few, fails))].sort()).toEqual([...some].sort());
    }),
  );
});

test("needs the logarithm of their number for each item, and an attempt to see that it is enough", async () => {
  const max = Math.ceil(Math.log2(items.length)) + 1;
  for (const item of items) {
    const [alone, pair] = [oracle([item]), oracle([...new Set([item, 60])])];
    expect(await minimize(items, alone.fails)).toEqual([item]);
    expect(alone.asked.times).toBeLessThanOrEqual(max);
    await minimize(items, pair.fails);
    expect(pair.asked.times).toBeLessThanOrEqual(2 * max);
  }
});

test("finds an item among the likely ones with fewer attempts, and also elsewhere", async () => {
  const [likely, other] = [oracle([2]), oracle([90])];
  expect(await minimize(items, likely.fails, 4)).toEqual([2]);
  expect(await minimize(items, other.fails, 4)).toEqual([90]);
  expect(likely.asked.times).toBeLessThanOrEqual(4);
});

test("stops with its result so far when the responses make no sense", async () => {
  await fc.assert(
    fc.asyncProperty(fc.infiniteStream(fc.boolean()), async (responses) => {
      let asked = 0;
      const left = await minimize(items, async () => {
        asked += 1;
        return responses.next().value === true;
      });
      expect(left.length).toBeGreaterThan(0);
      expect(asked).toBeLessThanOrEqual(200);
    }),
  );
});

test("makes at most 200 attempts for a client that needs all of many points, and loses none of them", async () => {
  for (let length = 480; length < 520; length++) {
    const many = Array.from({ length }, (_, i) => i);
    const { fails, asked } = oracle(many);
    expect(await minimize(many, fails)).toEqual(many);
    expect(asked.times).toBe(200);
  }
});
