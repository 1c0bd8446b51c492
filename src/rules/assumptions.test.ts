import { expect, test } from "vitest";
import { assumptionsFor } from "./assumptions.js";

test("what is given replaces what the profile sets, unless it is undefined", () => {
  const given = assumptionsFor("typical", { rate_limit_code: "slow_down", retry_after: undefined } as never);
  expect(given).toEqual({ ...assumptionsFor("typical"), rate_limit_code: "slow_down" });
});

test("a profile without other values is one object for all sandboxes; only typical sets its own", () => {
  expect(assumptionsFor("minimal", {})).toBe(assumptionsFor("minimal"));
  expect(assumptionsFor("varied")).toEqual(assumptionsFor("minimal"));
  expect(assumptionsFor("minimal").retry_after).toBe("none");
  expect(assumptionsFor("typical").retry_after).toBe("seconds");
});

test("the scopes of a sandbox are those of its assumptions and those that its endpoints need", () => {
  const scopes = (given: readonly string[]) =>
    assumptionsFor("minimal", { scopes: given }, [{ scope: "usage:read" }, { scope: null }, {}]).scopes;
  expect(scopes(["farms:read"])).toEqual(["farms:read", "usage:read"]);
  expect(scopes(["usage:read"])).toEqual(["usage:read"]);
});
