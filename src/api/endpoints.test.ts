import { expect, test } from "vitest";
import { endpointsIn, fillPlaceholders } from "./endpoints.js";

/** A scenario's endpoints: `/me`, and `count` of its own. */
function endpointsBesideMe(count: number) {
  const endpoints: Record<string, { path: string }> = {};
  for (let number = 1; number <= count; number++) endpoints[`read${number}`] = { path: `/v1/${number}` };
  return endpointsIn({ endpoints });
}

const invocation = { certify: "certify", command: "start" };

test.each([
  [3, "GET /v1/relying-party/me, GET /v1/1 or GET /v1/2"],
  [4, "GET /v1/relying-party/me, GET /v1/1, GET /v1/2 or another endpoint of the scenario"],
])("advice names the first of %i endpoints", (count, words) => {
  const text = fillPlaceholders("send {endpoints}", endpointsBesideMe(count - 1), invocation);
  expect(text).toBe(`send ${words}`);
});
