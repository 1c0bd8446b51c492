import { expect, test } from "vitest";
import {
  hasBody,
  hasKeyInAuthorization,
  hasKeyInQuery,
  hasQuery,
  isFromBrowser,
  isPreflight,
  isPreflightForKey,
  traitsOfHeader,
  traitsOfQuery,
  traitsOfWebRequest,
} from "./request-traits.js";

const key = "SVC_test_sbx0000";

test.each([
  ["Authorization", `Bearer ${key}`, hasKeyInAuthorization],
  ["authorization", key, hasKeyInAuthorization],
  ["AUTHORIZATION", `ApiKey ${key}`, hasKeyInAuthorization],
  ["Authorization", `Token token="${key}"`, hasKeyInAuthorization],
  ["Authorization", `Basic ${btoa(`${key}:`)}`, hasKeyInAuthorization],
  ["Authorization", `basic ${btoa(`user:${key}`)}`, hasKeyInAuthorization],
  ["Authorization", "Bearer eyJhbGciOiJIUzI1NiJ9.e30.c2ln", 0],
  ["Authorization", "Basic not base64 at all", 0],
  ["Authorization", `Basic ${btoa("user:password")}`, 0],
  ["Origin", "https://shop.example", isFromBrowser],
  ["Sec-Fetch-Site", "cross-site", isFromBrowser],
  ["sec-fetch-dest", "empty", isFromBrowser],
  // Node's own fetch sends it.
  ["sec-fetch-mode", "cors", 0],
  ["Content-Length", "3", hasBody],
  ["content-length", "0", 0],
  // It may be empty.
  ["Transfer-Encoding", "chunked", 0],
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

test.each([
  ["", 0],
  ["?", 0],
  ["?page=2", hasQuery],
  [`?key=${key}`, hasQuery | hasKeyInQuery],
])("the query %j shows %i", (query, traits) => {
  expect(traitsOfQuery(query)).toBe(traits);
});

test("a web request shows its body, but not one that was said to be empty", () => {
  const url = "https://any.example/";
  const show = (init: RequestInit) => traitsOfWebRequest(new Request(url, init), "");
  expect(show({})).toBe(0);
  expect(show({ method: "POST" })).toBe(0);
  expect(show({ method: "POST", body: "x" })).toBe(hasBody);
  expect(show({ method: "POST", body: new Uint8Array(), headers: { "content-length": "0" } })).toBe(0);
});
