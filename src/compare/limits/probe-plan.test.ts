import { expect, test } from "vitest";
import { planProbe } from "./probe-plan.js";

test.each([
  [62, { kind: "too_few_left", neededRequests: 63 }],
  [63, { kind: "enough_left", mostRequests: 61, provingRequests: 121 }],
  [100, { kind: "enough_left", mostRequests: 98, provingRequests: 121 }],
  [400, { kind: "enough_left", mostRequests: 121, provingRequests: 121 }],
])("R22 with %i requests left, a per_minute of 60 and two controls, the plan is %j", (requestsLeft, plan) => {
  expect(planProbe(60, 2, requestsLeft)).toEqual(plan);
});
