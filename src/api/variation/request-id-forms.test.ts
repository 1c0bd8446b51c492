import fc from "fast-check";
import { expect, test } from "vitest";
import { isRequestId, requestIdForms } from "./request-id-forms.js";

const digits = fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 24, maxLength: 24 });

test.each(Object.entries(requestIdForms))(
  "an id of the form %s is told apart from a ref, and from every other form",
  (name, { make }) => {
    fc.assert(
      fc.property(digits, (given) => {
        const id = make(given);
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
