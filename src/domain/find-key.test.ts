import { expect, test } from "vitest";
import { containsKey } from "./find-key.js";

test.each([
  "SVC_test_sbx0abc",
  "?key=SVC_live_x",
  "?a=1&b=legacysvc_test_0",
  "Bearer legacysvc_live_0",
  'ApiKey key="SVC_test_0"',
  "?key=SVC%5Ftest%5fabc",
  "?key=SVC%255Ftest%255Fabc",
  "?about=SVC_test_&key=SVC_test_a",
])("a key is found in %s", (text) => {
  expect(containsKey(text)).toBe(true);
});

test.each([
  "",
  "?",
  "?about=SVC_test_",
  "?about=SVC_test_&x=1",
  "?about=SVC_prod_abc",
  "?about=svc_test_abc",
  "?page=2",
  "Bearer eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
  "?x=%E0%A4%A",
])("no key is found in %s", (text) => {
  expect(containsKey(text)).toBe(false);
});
