import { expect, test } from "vitest";
import { createRedact } from "./redact.js";

const secret = "SVC_test_aB3dE5fG7hJ9kL1m";
const redact = createRedact([secret, "legacysvc_live_tiny"]);

test.each([
  [`the key ${secret}.`, "the key SVC_test_…."],
  ["the key aB3dE5fG7hJ9kL1m", "the key …"],
  [encodeURIComponent(encodeURIComponent(secret)), "SVC_test_…"],
  ["SVC_live_someOtherKey0", "SVC_live_…"],
  ["svc_TEST_ab3de5fg", "svc_TEST_…"],
  ["legacysvc_live_tiny", "legacysvc_live_…"],
  ["a tiny text", "a tiny text"],
])("R46 %j becomes %j", (text, shown) => {
  expect(redact.text(text)).toBe(shown);
});

test("R46 keys go out of values and names of members, at any depth", () => {
  expect(redact.value({ [secret]: [{ a: secret }, 1, null] })).toEqual({
    "SVC_test_…": [{ a: "SVC_test_…" }, 1, null],
  });
});

test("only the keys that are sent are found, whole or without their prefix", () => {
  expect(["", secret, "aB3dE5fG7hJ9kL1m", "tiny", "SVC_live_someOtherKey0"].map(redact.finds)).toEqual([
    false,
    true,
    true,
    false,
    false,
  ]);
});
