import { expect, test } from "vitest";
import {
  hasBody,
  hasKeyInAuthorization,
  isFromBrowser,
  isPreflight,
  isPreflightForKey,
  traitsOfHeader,
  traitsOfWebRequest,
} from "./request-traits.js";

const key = "SVC_test_sbx0000";

test.each([
  ["AUTHORIZATION", `ApiKey ${key}`, hasKeyInAuthorization],
  ["Authorization", `Token token="${key}"`, hasKeyInAuthorization],
  ["Authorization", `basic ${btoa(`user:${key}`)}`, hasKeyInAuthorization],
  ["Authorization", "Basic not base64 at all", 0],
  ["Authorization", `Basic ${btoa("user:password")}`, 0],
  ["Sec-Fetch-Site", "cross-site", isFromBrowser],
  ["content-length", "0", 0],
  ["Access-Control-Request-Method", "GET", isPreflight],
  ["Access-Control-Request-Headers", "accept, X-API-Key", isPreflight | isPreflightForKey],
  ["Access-Control-Request-Headers", "authorization", isPreflight],
  // Of the same lengths as those that are looked for.
  ["Accept", "application/json", 0],
  ["If-None-Match", `"${key}"`, 0],
  ["Accept-Charset", "utf-8", 0],
  ["X-Forwarded-Host", key, 0],
] as const)("%s: %s shows %i", (name, value, traits) => {
  expect(traitsOfHeader(name, value)).toBe(traits);
});

test("a web request shows its body, but not one that was said to be empty", () => {
  const url = "https://any.example/";
  const show = (init: RequestInit) => traitsOfWebRequest(new Request(url, init), "");
  expect(show({})).toBe(0);
  expect(show({ method: "POST" })).toBe(0);
  expect(show({ method: "POST", body: "x" })).toBe(hasBody);
  expect(show({ method: "POST", body: new Uint8Array(), headers: { "content-length": "0" } })).toBe(0);
});
