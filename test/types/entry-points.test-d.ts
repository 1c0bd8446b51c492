import { expectTypeOf, test } from "vitest";
import type { Sandbox } from "../../src/index.js";
import { test as ofVitest, sandboxTest as vitestOf } from "../../src/integrations/vitest.js";

test("a wrong value of an inline scenario is a mistake for the fixtures as well", () => {
  const organizations = { bank: { type: "bank" } } as const;
  // @ts-expect-error type
  vitestOf({ scenario: { version: 1, organizations: { bank: { type: "banc" } } } });
  vitestOf({ scenario: { version: 1, organizations } });
  vitestOf({ scenario: "./my.yaml" });
});

test("the fixtures of Vitest know refs, scenarios and durations as createSandbox does", () => {
  const use = () => {
    ofVitest.override({ sandboxOptions: { scenario: "./bank.yaml", seed: 7, profile: "varied" } });
    // @ts-expect-error no such option
    ofVitest.override({ sandboxOptions: { scenarios: "rotation" } });
    ofVitest.beforeAll(({ sharedSandbox }) => expectTypeOf(sharedSandbox).toEqualTypeOf<Sandbox>());
    ofVitest("a test", ({ sandbox, secret, server, task }) => {
      sandbox.keys.revoke("active");
      // @ts-expect-error no such key
      sandbox.keys.revoke("actve");
      expectTypeOf(secret("revoked")).toEqualTypeOf<string>();
      expectTypeOf(server.url).toEqualTypeOf<string>();
      expectTypeOf(task.name).toEqualTypeOf<string>();
      // @ts-expect-error the fixture closes it
      server.close();
    });
    vitestOf({ scenario: "rotation", seed: 7 })("a test", ({ secret }) => {
      expectTypeOf(secret("rotated")).toEqualTypeOf<string>();
      // @ts-expect-error a key of another scenario
      secret("active");
    });
    vitestOf({ scenario: "./bank.yaml" })("a test", ({ secret }) => secret("any text"));
    vitestOf()("a test", ({ secret }) => secret("any text"));
  };
  expectTypeOf(use).toBeFunction();
});
