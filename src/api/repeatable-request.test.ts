import { expect, test } from "vitest";
import type { Exchange } from "../sandbox/journal/exchange.js";
import { repeatableRequest } from "./repeatable-request.js";

const pathOf = (path: string) =>
  repeatableRequest({ method: "GET", path, key: "active", presented: "well_formed" } as Exchange).path;

test.each([
  ["/v1/SVC_test_…", "/v1/SVC_test_*"],
  ["/v1/é", "/v1/*"],
  ["/v1/€/🚜", "/v1/*/*"],
  ["v1", "/v1"],
])("the path %s of the journal is sent again as %s", (shown, sent) => {
  expect(pathOf(shown)).toBe(sent);
});

test.each([996, 997, 998, 999])(
  "a path with %%E9 after %i characters is cut before or after its escape",
  (length) => {
    const path = pathOf(`/${"x".repeat(length - 1)}%E9`) ?? "";
    expect(path).toMatch(/^\/x+(?:%E9)?$/);
    expect(path.length).toBeLessThanOrEqual(1000);
  },
);
