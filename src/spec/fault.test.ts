import { expect, test } from "vitest";
import { chanceOf, type FaultCondition, fires, matches } from "./fault.js";
import { createRequestIds, numberInSeries, numberInto } from "./seed.js";

const facts = { key: "main", organization: "bank", now: 100, expectedPath: () => "200.test" as const };

test.each<[FaultCondition, boolean]>([
  [{}, true],
  [{ key: "main", organization: "bank", pathId: "200.test", after: 100, until: 101 }, true],
  [{ key: "other" }, false],
  [{ organization: "other" }, false],
  [{ pathId: "200.live" }, false],
  [{ after: 101 }, false],
  [{ until: 100 }, false],
])("the condition %j is met by the facts: %j", (when, isMet) => {
  expect(matches(when, facts)).toBe(isMet);
});

test("a path is only predicted if everything else matches", () => {
  const expectedPath = () => {
    throw new Error("predicted");
  };
  expect(matches({ key: "other", pathId: "200.test" }, { ...facts, expectedPath })).toBe(false);
  expect(() => matches({ pathId: "200.test" }, { ...facts, expectedPath })).toThrow("predicted");
});

test.each<[FaultCondition, number[]]>([
  [{}, [1, 2, 3, 4, 5, 6]],
  [{ every: 3 }, [3, 6]],
  [{ requests: [1, 5] }, [1, 5]],
  [{ every: 2, requests: [2, 3] }, [2]],
  [{ probability: 0.5 }, []],
  [{ every: 2, probability: 0.51 }, [2, 4, 6]],
])("with the condition %j the matching requests %j meet it", (when, hit) => {
  expect([1, 2, 3, 4, 5, 6].filter((nth) => fires(when, nth, 0.5))).toEqual(hit);
});

test("the chance of a request is from 0 to below 1, and differs by request and by salt", () => {
  const chances = [1, 2, 3].flatMap((number) => [chanceOf(7, number), chanceOf(8, number)]);
  expect(new Set(chances).size).toBe(6);
  expect(chances.every((chance) => chance >= 0 && chance < 1)).toBe(true);
});

test("request ids continue in any series, and a number keeps its place in its series", () => {
  const ids = createRequestIds(1, 2 ** 32 + 5, 3);
  expect([ids.series(), ids.next().number, ids.responded()]).toEqual([1, 2 ** 32 + 6, 2 ** 32 + 6]);
  expect(ids.idOf(7)).toBe(createRequestIds(1, 0, 3).idOf(7));
  expect(new Set([ids.idOf(7), ids.idOf(2 ** 32 + 7), createRequestIds(1, 0).idOf(7)]).size).toBe(3);
  expect([numberInto(2, 2 ** 32 + 5), numberInto(2 ** 21 + 1, 5), numberInSeries(2 ** 33 + 5)]).toEqual([
    ...[2 ** 33 + 5, 2 ** 32 + 5, 5],
  ]);
});
