import { expect, test } from "vitest";
import { findKeys } from "./redact.js";
import {
  evidenceOf,
  hasBody,
  hasKeyInOtherHeader,
  hasKeyInQuery,
  isFromBrowser,
  isFromPage,
  isMeantAsKey,
  isPreflight,
  isPreflightForKey,
  traitsOfHeader,
  traitsOfWebRequest,
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
  expect(traitsOfHeader(name, value)).toBe(traits);
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

test("a web request shows its body, unless it was declared empty", () => {
  const url = "https://any.example/";
  const show = (init: RequestInit) => traitsOfWebRequest(new Request(url, init), "");
  expect(show({})).toBe(0);
  expect(show({ method: "POST" })).toBe(0);
  expect(show({ method: "POST", body: "x" })).toBe(hasBody);
  expect(show({ method: "POST", body: new Uint8Array(), headers: { "content-length": "0" } })).toBe(0);
});

test("a web request shows what its headers and the page that sent it show, and a key where one belongs shows nothing", () => {
  const traits = (headers: Record<string, string>, referrer?: string) =>
    traitsOfWebRequest({ headers: new Headers(headers), body: null, referrer } as Request, "");
  expect(traits({ "x-api-key": key })).toBe(0);
  expect(traits({ "x-api-key": key, authorization: key })).toBe(hasKeyInOtherHeader);
  expect(traits({}, "about:client")).toBe(0);
  expect(traits({}, "https://shop.example/orders")).toBe(isFromBrowser | isFromPage);
});

test.each([
  ["a key in the query", hasKeyInQuery, `?key=${key}`, {}, { inQuery: [key] }],
  [
    "a key in a header",
    hasKeyInOtherHeader,
    "",
    { "x-api-key": `${key}a`, cookie: `k=${key}` },
    { inHeaders: [key] },
  ],
  [
    "a key in credentials",
    hasKeyInOtherHeader,
    "",
    { authorization: `Basic ${btoa(`u:${key}`)}` },
    { inHeaders: [key] },
  ],
  ["credentials elsewhere", hasKeyInOtherHeader, "", { cookie: `Basic ${btoa(`u:${key}`)}` }, {}],
  ["an origin", isFromBrowser, "", { origin: "https://shop.example" }, { page: "https://shop.example" }],
  ["a page", isFromBrowser, "", { referer: "https://shop.example/orders" }, { page: "https://shop.example" }],
  ["an endless origin", isFromBrowser, "", { origin: `https://${"a".repeat(300)}` }, {}],
])("the evidence of a request with %s", (_what, traits, query, headers, expected) => {
  const none = { inQuery: [], inHeaders: [], page: undefined };
  expect(evidenceOf(traits, query, () => Object.entries(headers))).toEqual(
    expected && { ...none, ...expected },
  );
});
