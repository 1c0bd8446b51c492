import { expect, test } from "vitest";
import { endpointsIn } from "../api/endpoints.js";
import { suggestEndpoint as suggested } from "./report.js";

const suggestEndpoint = (method: string, path: string) => suggested(method, path, endpointsIn({}));

test.each([
  ["POST", "/v1/relying-party/me"],
  ["GET", "/v1/relying-party/me/"],
  ["GET", "/V1/Relying-Party/ME"],
  ["GET", "/v1//relying-party/me"],
  ["GET", "/v2/relying-party/me"],
  ["GET", "/v1/relying_party/me"],
  ["GET", "/v1/relyingparty/me"],
  ["GET", "/relying-party/me"],
  ["GET", "/me"],
  ["GET", "/api/v1/relying-party/me"],
  ["GET", "/v1/me"],
  ["GET", "/v1/relying-party/me.json"],
  ["GET", "/v1/relying-party/me/"],
  ["GET", "/v1/relying-party/me/SVC_test_…"],
  ["GET", "/v1/relying-party/me/limits/now"],
])("%s %s is suggested the endpoint", (method, path) => {
  expect(suggestEndpoint(method, path)).toBe("GET /v1/relying-party/me");
});

test("a method that the path accepts is kept", () => {
  expect(suggestEndpoint("HEAD", "/v1/relying-party/me/")).toBe("HEAD /v1/relying-party/me");
});

test.each([
  "/",
  "",
  "/favicon.ico",
  "/v1/farmers",
  "/v1/relying-party/whoami",
  "/v1/relying-party/attestations",
  "/e",
  `/${"x".repeat(200)}`,
])("%s gets no suggestion", (path) => {
  expect(suggestEndpoint("GET", path)).toBeUndefined();
});
