import { expect, test } from "vitest";
import { resolveAssumptions } from "./assumptions.js";

test("what is given replaces what the profile sets, unless it is undefined", () => {
  const given = resolveAssumptions("typical", {
    rate_limit_code: "slow_down",
    retry_after: undefined,
  } as never);
  expect(given).toEqual({ ...resolveAssumptions("typical"), rate_limit_code: "slow_down" });
});

test("a profile without other values is one object for all sandboxes; only typical sets its own", () => {
  expect(resolveAssumptions("minimal", {})).toBe(resolveAssumptions("minimal"));
  expect(resolveAssumptions("varied")).toEqual(resolveAssumptions("minimal"));
  expect(resolveAssumptions("minimal").retry_after).toBe("none");
  expect(resolveAssumptions("typical").retry_after).toBe("seconds");
});

test("the scopes of a sandbox are those of its assumptions and those that its endpoints need", () => {
  const scopes = (given: readonly string[]) =>
    resolveAssumptions("minimal", { scopes: given }, [{ scope: "usage:read" }, { scope: null }, {}]).scopes;
  expect(scopes(["farms:read"])).toEqual(["farms:read", "usage:read"]);
  expect(scopes(["usage:read"])).toEqual(["usage:read"]);
});
