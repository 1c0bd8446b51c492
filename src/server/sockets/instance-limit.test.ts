import { expect, test } from "vitest";
import { startInNode } from "../../node/platform.js";
import { bundledScenarios } from "../../scenario/bundled.js";
import { createInstanceLimit } from "./instance-limit.js";

test("an instance's minute starts with its first request, and a rejection shows the seconds until the next one", () => {
  let now = 0;
  const limit = createInstanceLimit(() => now);
  const make = (requestsPerMinute?: number) => ({
    tenancy: { requestsPerMinute },
    sandbox: startInNode(bundledScenarios.active, { name: "active" }),
  });
  const [limited, other, free] = [make(2), make(1), make()];
  const at = (time: number, one: typeof limited) => {
    now = time;
    return limit(one)?.retryAfter;
  };
  expect([at(0, limited), at(10_000, limited), at(10_001, limited)]).toEqual([undefined, undefined, 50]);
  expect([at(20_000, other), at(59_999, limited), at(60_000, limited)]).toEqual([undefined, 1, undefined]);
  expect([at(60_001, limited), at(60_002, limited), at(60_002, other)]).toEqual([undefined, 60, 20]);
  for (let n = 0; n < 100; n += 1) expect(at(n, free)).toBeUndefined();
});
