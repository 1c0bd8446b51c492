import { expect, test } from "vitest";
import { readBaseUrl } from "./base-url.js";

test.each([
  ["https://api.example/", "https://api.example"],
  [" http://api.example/base// ", "http://api.example/base"],
  ["https://user@api.example", undefined],
  ["https://:secret@api.example", undefined],
  ["https://api.example?a", undefined],
  ["https://api.example#a", undefined],
  ["https://api.example/?", "https://api.example"],
  ["https://api.example/base/?#", "https://api.example/base"],
  ["https://api.example/#", "https://api.example"],
  ["ftp://api.example", undefined],
  ["api.example", undefined],
])("the base URL %j is read as %j", (text, url) => {
  expect(readBaseUrl(text)).toBe(url);
});
