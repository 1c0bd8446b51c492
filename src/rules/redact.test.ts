import { expect, test } from "vitest";
import { decodePrintable, redactValue } from "./redact.js";

const key = "SVC_live_9f8e7d6c5b4a";

test.each([
  ["%20%7e%7E", " ~~"],
  ["%1f%7f%80", "%1f%7f%80"],
  ["%u0041%U0042%u1041", "AB%u1041"],
  [`%${"25".repeat(9)}41`, "A"],
  [`%${"25".repeat(10)}41`, "%41"],
])("R46 %s reads %s when its printable characters are decoded, ten times at most", (text, decoded) => {
  expect(decodePrintable(text)).toBe(decoded);
});

test("R46 a value has no key in a text or a name, except in a member that is kept", () => {
  const value = { [key]: [key, { name: `of ${key}`, kept: { secret: key }, none: null, count: 1 }] };
  expect(redactValue(value, undefined, (name) => name === "kept")).toEqual({
    "SVC_live_…": ["SVC_live_…", { name: "of SVC_live_…", kept: { secret: key }, none: null, count: 1 }],
  });
});
