import { expect, test } from "vitest";
import { refOfName } from "./fields.js";

test.each([
  ["Core banking", "core-banking"],
  ["Bänk Ñandú 2", "bank-nandu-2"],
  ["2024", "key-2024"],
  ["銀行", "key"],
])("the key %s gets the ref %s", (name, ref) => {
  expect(refOfName(name)).toBe(ref);
});
