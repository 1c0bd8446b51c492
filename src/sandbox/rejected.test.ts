import { expect, test } from "vitest";
import { createRejected } from "./rejected.js";

test("a rejected key is remembered as one and the same", () => {
  const rejected = createRejected();
  const heard = rejected.remember("a");
  expect(rejected.remember("a")).toBe(heard);
  expect(rejected.find("a")).toBe(heard);
  expect(rejected.find("b")).toBeUndefined();
});

test("the one that was not sent for the longest time is forgotten first", () => {
  const rejected = createRejected(2);
  for (const fingerprint of ["a", "b", "a", "c"]) rejected.remember(fingerprint);
  expect(["a", "b", "c"].map((one) => rejected.find(one) !== undefined)).toEqual([true, false, true]);
});
