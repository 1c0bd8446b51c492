import { expect, test } from "vitest";
import { asked } from "../../test/support/send.js";
import { handle } from "../api/handle.js";
import { unmetThresholds } from "../cli/thresholds.js";
import { startInNode } from "../node/platform.js";
import { bundledScenarios } from "../scenario/bundled.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { mergeReports } from "./merge-reports.js";
import { clientReport } from "./report.js";
import { renderReport } from "./report-layout.js";
import type { Report } from "./report-shape.js";

/** The endpoint that the report of a request suggests; `null` if there is none. */
function suggestedFor(method: string, path: string, endpoints: Scenario["endpoints"] = {}): string | null {
  const sandbox = startInNode({
    scenario: { ...bundledScenarios["key-states"], endpoints },
    name: "key-states",
  });
  handle(sandbox, asked({ method, path }));
  const advice = clientReport(sandbox).advice.find(({ id }) => id === "wrong-method-or-path");
  return advice?.examples[0]?.didYouMean ?? null;
}

test.each([
  ["/v2/items", "GET /v1/items/"],
  ["/V1//Items", "GET /v1/items/"],
  ["/v1/items/details", "GET /v1/items/"],
  ["/v1/items.json", "GET /v1/items/"],
  ["/none", null],
])("an endpoint whose path ends with a slash is suggested by its last segment: %s", (path, suggestion) => {
  expect(suggestedFor("GET", path, { listItems: { path: "/v1/items/", body: {} } })).toBe(suggestion);
});

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
  expect(suggestedFor(method, path)).toBe("GET /v1/relying-party/me");
});

test("a method that the path accepts is kept", () => {
  expect(suggestedFor("HEAD", "/v1/relying-party/me/")).toBe("HEAD /v1/relying-party/me");
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
  expect(suggestedFor("GET", path)).toBeNull();
});

test.each(["/other/consents", "/v1/Consents.json", "/V1/CONSENTS/"])(
  "%s is suggested an endpoint with capital letters",
  (path) => {
    const endpoints = { createConsent: { path: "/v1/Consents" } };
    expect(suggestedFor("GET", path, endpoints)).toBe("GET /v1/Consents");
  },
);

test("of several endpoints, the one with the nearest path is suggested, or else the one whose name comes last", () => {
  const endpoints = { listKeys: { path: "/v1/relying-party/me/keys" } };
  expect(suggestedFor("GET", "/v1/relying-party/me/key", endpoints)).toBe("GET /v1/relying-party/me/keys");
  expect(suggestedFor("GET", "/v1/relying-party/me/keys/first", endpoints)).toBe(
    "GET /v1/relying-party/me/keys",
  );
});

test("of two endpoints with the same name, the first is suggested", () => {
  const endpoints = { readOther: { path: "/v1/another-party/me" } };
  expect(suggestedFor("GET", "/me", endpoints)).toBe("GET /v1/relying-party/me");
});

test("merged reports show how to cover an outcome if one of them does", () => {
  const sandbox = startInNode({ scenario: bundledScenarios["key-states"], name: "key-states" });
  const report = clientReport(sandbox);
  const outcomes = report.outcomes.map((row) => ({ ...row, howToCover: null }));
  const merged = mergeReports([{ ...report, outcomes }, report]);
  expect(merged.outcomes).toEqual(report.outcomes);
});

test("an endpoint with a parameter is covered by a value that no other endpoint has in its path", () => {
  const endpoints = {
    readItem: { path: "/v1/items/{id}", body: {} },
    readFirst: { path: "/v1/items/1", body: {} },
  };
  const sandbox = startInNode({ scenario: { ...bundledScenarios["key-states"], endpoints }, name: "items" });
  const row = clientReport(sandbox).outcomes.find(({ outcome }) => outcome === "200.readItem");
  expect(row?.howToCover?.request).toEqual({ method: "GET", path: "/v1/items/2" });
});

test("merged reports have a row for each path that an operation id has", () => {
  const reportWithPath = (path: string) => {
    const scenario = { ...bundledScenarios["key-states"], endpoints: { readItem: { path, body: {} } } };
    return clientReport(startInNode({ scenario, name: "items" }));
  };
  const { endpoints } = mergeReports([reportWithPath("/v1/items"), reportWithPath("/v2/items")]);
  expect(endpoints.map(({ path }) => path)).toEqual(["/v1/relying-party/me", "/v1/items", "/v2/items"]);
});

test("a report without outcomes covers nothing, and reaches no threshold", () => {
  const empty: Report = {
    scenario: "damaged",
    seed: 1,
    profile: "minimal",
    pinned: [],
    requests: 1,
    unread: 0,
    coverage: { percent: 100, covered: 20, promised: 20 },
    announced: { covered: 0, total: 0 },
    faults: { covered: 0, total: 0 },
    endpoints: [],
    outcomes: [],
    advice: [],
    resends: [],
  };
  const merged = mergeReports([empty]);
  expect(merged.coverage).toEqual({ percent: 0, covered: 0, promised: 0 });
  expect(unmetThresholds(merged, { minCoverage: 80 }).map(({ kind }) => kind)).toEqual(["coverage"]);
  expect(renderReport(merged, "text")).not.toContain("Every promised outcome is covered");
});
