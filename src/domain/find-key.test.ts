import { expect, test } from "vitest";
import { containsKey, decodePrintable, findKeys } from "./find-key.js";

/** Every character of a text by its code. */
const encoded = (text: string) => [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join("");

test.each([
  ["SVC_test_sbx0abc", "SVC_test_sbx0abc"],
  ["?key=SVC_live_x", "SVC_live_x"],
  ["?a=1&b=legacysvc_test_0", "legacysvc_test_0"],
  ["Bearer legacysvc_live_0", "legacysvc_live_0"],
  ['ApiKey key="SVC_test_0"', "SVC_test_0"],
  ["?key=SVC%5Ftest%5fabc", "SVC_test_abc"],
  ["?key=SVC%255Ftest%255Fabc", "SVC_test_abc"],
  [`?key=${encoded("SVC_test_abc")}&x=1`, "SVC_test_abc"],
  [`?key=${encodeURIComponent(encodeURIComponent(encoded("SVC_test_abc")))}`, "SVC_test_abc"],
  ["?about=SVC_test_&key=SVC_test_a", "SVC_test_a"],
])("a key is found in %s", (text, key) => {
  expect([containsKey(text), findKeys(text)]).toEqual([true, [key]]);
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
  expect([containsKey(text), findKeys(text)]).toEqual([false, []]);
});

test("every key of a text is found", () => {
  expect(findKeys("?a=SVC_test_1&b=SVC_live_2&c=SVC_test_3").sort()).toEqual([
    "SVC_live_2",
    "SVC_test_1",
    "SVC_test_3",
  ]);
});

test("only printable ASCII is decoded, and what is no encoding is left alone", () => {
  expect(decodePrintable("%41%0a%7f%80%zz%4%%42%2541%")).toBe("A%0a%7f%80%zz%4%BA%");
});
