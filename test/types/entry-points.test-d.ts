import type { Dispatcher } from "undici";
import { expectTypeOf, test } from "vitest";
import { createSandbox, type Sandbox } from "../../src/index.js";
import { test as ofPlaywright } from "../../src/runners/playwright.js";
import { test as ofVitest } from "../../src/runners/vitest.js";
import { createDispatcher } from "../../src/undici/create-dispatcher.js";

test("createDispatcher takes a sandbox whose refs are known", () => {
  expectTypeOf(createDispatcher).returns.toEqualTypeOf<Dispatcher>();
  createDispatcher(createSandbox({ scenario: "rotation" }), { baseUrl: "https://api.example" });
  // @ts-expect-error no such option
  createDispatcher(createSandbox(), { baseURL: "https://api.example" });
});

test("the tests and hooks of Vitest get the fixtures", () => {
  const use = () => {
    ofVitest.override({ sandboxOptions: { scenario: "./bank.yaml", seed: 7, profile: "varied" } });
    // @ts-expect-error no such option
    ofVitest.override({ sandboxOptions: { scenarios: "rotation" } });
    ofVitest.beforeAll(({ sharedSandbox }) => expectTypeOf(sharedSandbox).toEqualTypeOf<Sandbox>());
    ofVitest("a test", ({ sandbox, secret, server, task }) => {
      expectTypeOf(sandbox).toEqualTypeOf<Sandbox>();
      expectTypeOf(secret).toEqualTypeOf<(ref: string) => string>();
      expectTypeOf(server.url).toEqualTypeOf<string>();
      expectTypeOf(task.name).toEqualTypeOf<string>();
      // @ts-expect-error the fixture closes it
      server.close();
    });
  };
  expectTypeOf(use).toBeFunction();
});

test("the tests and options of Playwright get the fixtures", () => {
  const use = () => {
    ofPlaywright.use({ sandboxOptions: { scenario: "rotation", frozen: false }, locale: "en" });
    // @ts-expect-error a seed is a number
    ofPlaywright.use({ sandboxOptions: { seed: "7" } });
    ofPlaywright("a test", ({ sandbox, secret, server, baseURL, page }) => {
      expectTypeOf(sandbox).toEqualTypeOf<Sandbox>();
      expectTypeOf(secret("revoked")).toEqualTypeOf<string>();
      expectTypeOf(server.url).toEqualTypeOf<string>();
      expectTypeOf(baseURL).toEqualTypeOf<string | undefined>();
      expectTypeOf(page.url()).toEqualTypeOf<string>();
    });
  };
  expectTypeOf(use).toBeFunction();
});
