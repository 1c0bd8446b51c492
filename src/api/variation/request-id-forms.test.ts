import fc from "fast-check";
import { expect, test } from "vitest";
import { isRequestId, requestIdForms } from "./request-id-forms.js";

const digits = fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 24, maxLength: 24 });

test.each(Object.entries(requestIdForms))(
  "an id of the form %s is told apart from a ref, and from every other form",
  (name, { make }) => {
    fc.assert(
      fc.property(digits, fc.nat(2 ** 21 - 1), (given, series) => {
        const id = make(given, series);
        expect(isRequestId(id)).toBe(true);
        const forms = Object.entries(requestIdForms).filter(([, { pattern }]) => pattern.test(id));
        expect(forms.map(([form]) => form)).toEqual([name]);
      }),
    );
  },
);

test.each([
  "active",
  "main-2",
  "rate-limited-minute",
  "last",
  "none",
  "SVC_test_sbx1",
  "req",
  "x".repeat(200),
])("%s is no request id", (word) => {
  expect(isRequestId(word)).toBe(false);
});

test("R7 an id of the form number differs from all ids of other series, and the first series has at most ten digits", () => {
  const { make } = requestIdForms.number;
  const tails = ["00000000", "0000000a", "ffffffff"].map((tail) => `${"0".repeat(16)}${tail}`);
  const ids = [0, 1, 2, 10, 2 ** 21 - 1].flatMap((series) => tails.map((given) => make(given, series)));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.slice(0, 3)).toEqual(["0", "10", "4294967295"]);
  expect(ids.map(isRequestId)).not.toContain(false);
});
