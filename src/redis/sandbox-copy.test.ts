import { expect, test } from "vitest";
import { maskCall } from "./sandbox-copy.js";

test("keys in a call are cut short, but for those that a scenario pins", () => {
  const key = "SVC_test_sbx0123456789";
  const scenario = { organizations: { bank: { keys: { pinned: { secret: key } } } } };
  const call = { route: "POST /instances", actor: "administrator", query: {}, isYaml: false } as const;
  expect(maskCall({ ...call, params: { ref: key }, body: { label: [key], [key]: 1, scenario } })).toEqual({
    ...call,
    params: { ref: "SVC_test_…" },
    body: { label: ["SVC_test_…"], "SVC_test_…": 1, scenario },
  });
  const named = maskCall({ ...call, params: {}, body: { scenario: key } });
  expect(named.body).toEqual({ scenario: "SVC_test_…" });
});
