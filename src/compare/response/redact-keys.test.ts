import { expect, test } from "vitest";
import { createRedactKeys } from "./redact-keys.js";

const secret = "SVC_test_aB3dE5fG7hJ9kL1m";
const redact = createRedactKeys([secret, "legacysvc_live_tiny"]);

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
