import { expect, test } from "vitest";
import { findKeys } from "./redact.js";
import {
  hasBody,
  hasKeyInOtherHeader,
  isFromBrowser,
  isMeantAsKey,
  isPreflight,
  isPreflightForKey,
  readHeaders,
} from "./request-traits.js";

const key = "SVC_test_sbx0000";

test.each([
  ["AUTHORIZATION", `ApiKey ${key}`, hasKeyInOtherHeader],
  ["Authorization", `basic ${btoa(`user:${key}`)}`, hasKeyInOtherHeader],
  ["Authorization", `Basic ${btoa("user:password")}`, 0],
  ["Sec-Fetch-Site", "cross-site", isFromBrowser],
  ["content-length", "0", 0],
  ["content-length", "1", hasBody],
  ["Access-Control-Request-Method", "GET", isPreflight],
  ["Access-Control-Request-Headers", "accept, X-API-Key", isPreflight | isPreflightForKey],
  // Of the same lengths as those that are looked for.
  ["Accept", "application/json", 0],
  ["X-Names-Of-The-Headers-Allowed", "x-api-key", 0],
  // In any other header.
  ["api-key", key, hasKeyInOtherHeader],
  ["Cookie", `theme=dark; key=${encodeURIComponent(key)}`, hasKeyInOtherHeader],
] as const)("%s: %s shows %i", (name, value, traits) => {
  expect(readHeaders([name, value], "").traits).toBe(traits);
});

test.each([
  ["Bearer KEY", true],
  ["x-api-key: KEY", true],
  ["$SVC_API_KEY", true],
  [["$", "{SVC_API_KEY}"].join(""), true],
  ["%SVC_API_KEY%", true],
  ["{{ api_key }}", true],
  ['"undefined"', true],
  ["not-a-key", false],
  ["50%", false],
  // A test of its own for what is malformed.
  ["KEY, KEY", false],
])("%s was meant as a key: %s", (text, expected) => {
  const sent = text.replaceAll("KEY", key);
  expect(isMeantAsKey(sent, findKeys(sent))).toBe(expected);
});

test("several keys are one list, and a key where one belongs shows nothing", () => {
  const keys = ["x-api-key", key, "X-API-Key", "another"];
  expect(readHeaders(keys, "")).toEqual({
    apiKey: `${key}, another`,
    traits: 0,
    client: [],
    evidence: undefined,
  });
});

test.each([
  ["a key in the query", `?key=${key}`, {}, { inQuery: [key] }],
  ["a key in a header", "", { "x-api-key": `${key}a`, cookie: `k=${key}` }, { inHeaders: [key] }],
  ["a key in credentials", "", { authorization: `Basic ${btoa(`u:${key}`)}` }, { inHeaders: [key] }],
  ["credentials elsewhere", "", { cookie: `Basic ${btoa(`u:${key}`)}` }, undefined],
  ["an origin", "", { origin: "https://shop.example" }, { page: "https://shop.example" }],
  ["a page", "", { referer: "https://shop.example/orders" }, { page: "https://shop.example" }],
  ["an endless origin", "", { origin: `https://${"a".repeat(300)}` }, {}],
])("the evidence of a request with %s", (_what, query, headers, expected) => {
  const none = { inQuery: [], inHeaders: [], page: undefined };
  const { evidence } = readHeaders(Object.entries(headers).flat(), query);
  expect(evidence).toEqual(expected && { ...none, ...expected });
});
