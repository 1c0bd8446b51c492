import { expect, test } from "vitest";
import { problemsOf } from "../../../test/support/problems-of.js";

test("a replaced key that expired gets a hint that mends it (R43)", () => {
  const withOld = (fields: string) =>
    `version: 1\norganizations:\n  bank:\n    type: bank\n    keys:\n      new: { environment: test }\n      old: { environment: test, expires: -1d, replaced_by: new${fields} }\n`;
  expect(problemsOf(withOld(""))).toMatchObject([
    { code: "replacement_not_expected", hint: "add state: expired, or remove the field" },
  ]);
  expect(problemsOf(withOld(", state: expired"))).toEqual([]);
});
