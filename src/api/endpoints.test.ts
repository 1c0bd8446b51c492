import { expect, test } from "vitest";
import { endpointsIn, fillPlaceholders } from "./endpoints.js";

/** A scenario's endpoints: `/me`, and `count` of its own. */
function endpointsBesideMe(count: number) {
  const endpoints: Record<string, { path: string }> = {};
  for (let number = 1; number <= count; number++) endpoints[`read${number}`] = { path: `/v1/${number}` };
  return endpointsIn({ endpoints });
}

const invocation = { certify: "certify", command: "start" };

test.each([1, 2, 3, 4, 5, 6, 7, 8])("advice never speaks of one of 1 others, with %i endpoints", (count) => {
  const text = fillPlaceholders("send {endpoints}", endpointsBesideMe(count - 1), invocation);
  expect(text).toContain("GET /v1/relying-party/me");
  expect(text).not.toContain("one of 1 others");
});

test("advice names the first endpoints of many, and counts the others", () => {
  const endpoints = endpointsBesideMe(20);
  const text = fillPlaceholders("send {endpoints}", endpoints, invocation);
  const named = text.match(/GET \S+/g) ?? [];
  expect(named.length).toBeGreaterThan(1);
  expect(text).toContain(`or one of ${endpoints.length - named.length} others`);
});
