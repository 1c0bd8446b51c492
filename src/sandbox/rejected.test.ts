import { expect, test } from "vitest";
import { createRejected } from "./rejected.js";

test("a rejected key is remembered from when its client first heard of it", () => {
  const rejected = createRejected();
  rejected.remember("a", 5);
  rejected.remember("a", 9);
  expect([rejected.heardAt("a"), rejected.heardAt("b")]).toEqual([5, undefined]);
});

test("the one that was not sent for the longest time is forgotten first", () => {
  const rejected = createRejected(2);
  rejected.remember("a", 1);
  rejected.remember("b", 2);
  rejected.remember("a", 3);
  rejected.remember("c", 4);
  expect(["a", "b", "c"].map(rejected.heardAt)).toEqual([1, undefined, 4]);
});
