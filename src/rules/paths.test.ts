import { expect, test } from "vitest";
import { canonicalPath } from "./paths.js";

test.each([
  ["/v1/consents", "/v1/consents"],
  ["/a b/%63%2f/50%", "/a%20b/c%2F/50%25"],
  ["/caf\u00e9/\u{1f3e6}", "/caf%C3%A9/%F0%9F%8F%A6"],
  ["/a\"'<>[]`|^\\", "/a%22%27%3C%3E%5B%5D%60%7C%5E%5C"],
  ["/%zz%4", "/%25zz%254"],
  ["/{id}%7Bid%7d?#", "/{id}%7Bid%7D?#"],
])("%s is %s in its one form, which stays", (path, canonical) => {
  expect(canonicalPath(path)).toBe(canonical);
  expect(canonicalPath(canonical)).toBe(canonical);
});
