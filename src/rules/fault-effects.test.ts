import { expect, test } from "vitest";
import { faultKinds, faultKindsOf } from "./fault-effects.js";

test("a fault with all kinds of effects has each kind once", () => {
  const everyEffect = Object.fromEntries(faultKinds.map((kind) => [kind, true]));
  expect(faultKindsOf(everyEffect).toSorted()).toEqual(faultKinds.toSorted());
});
