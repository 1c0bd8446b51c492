import { expect, test } from "vitest";
import type { Exchange } from "../sandbox/journal/exchange.js";
import { repeatableRequest } from "./repeatable-request.js";

const pathOf = (path: string) =>
  repeatableRequest({ method: "GET", path, key: "active", presented: "well_formed" } as Exchange).path;

test.each([
  ["/v1/SVC_test_…", "/v1/SVC_test_*"],
  ["/v1/é", "/v1/%E9"],
  ["v1", "/v1"],
])("the path %s of the journal is sent again as %s", (shown, sent) => {
  expect(pathOf(shown)?.toUpperCase()).toBe(sent.toUpperCase());
});

test.each([996, 997, 998, 999])(
  "a path with é after %i characters is cut before or after its escape",
  (length) => {
    const path = pathOf(`/${"x".repeat(length - 1)}é`) ?? "";
    expect(decodeURIComponent(path.replace(/%e9$/i, "%C3%A9"))).toMatch(/^\/x+é?$/);
    expect(path.length).toBeLessThanOrEqual(1000);
  },
);
