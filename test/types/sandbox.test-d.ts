import type { HttpHandler } from "msw";
import { expectTypeOf, test } from "vitest";
import {
  type ApiErrorCode,
  type CreatedKey,
  createSandbox,
  type PathId,
  type Sandbox,
  type SandboxErrorCode,
  type Scenario,
} from "../../src/index.js";
import { createHandlers, handlers, sandbox as ready } from "../../src/msw/index.js";
import { startServer } from "../../src/node/index.js";

test("the refs of a bundled scenario are known to the compiler", () => {
  const sandbox = createSandbox({ scenario: "rotation" });
  expectTypeOf(sandbox.secret).parameter(0).toEqualTypeOf<"rotated" | "retiring" | "replacement">();
  expectTypeOf(sandbox.organizations.get).parameter(0).toEqualTypeOf<"amberfield-mutual">();
  // @ts-expect-error there is no such key
  sandbox.secret("retirng");
});

test("without a scenario the refs are those of key-states", () => {
  const sandbox = createSandbox();
  expectTypeOf<"revoked">().toExtend<Parameters<typeof sandbox.secret>[0]>();
  // @ts-expect-error there is no such key
  sandbox.secret("revokd");
});

test("the refs of a scenario value are known to the compiler", () => {
  const sandbox = createSandbox({
    scenario: {
      version: 1,
      organizations: { bank: { type: "bank", keys: { main: { environment: "test" } } } },
    },
  });
  expectTypeOf(sandbox.secret).parameter(0).toEqualTypeOf<"main">();
  expectTypeOf(sandbox.organizations.update).parameter(0).toEqualTypeOf<"bank">();
});

test("the refs of a scenario that is known at run time only are any text", () => {
  const sandbox = createSandbox({ scenario: {} as Scenario });
  expectTypeOf(sandbox.secret).parameter(0).toEqualTypeOf<string>();
});

test("keys made at run time can be named, known ones autocomplete", () => {
  const sandbox = createSandbox();
  expectTypeOf(sandbox.keys.create).returns.toEqualTypeOf<CreatedKey>();
  sandbox.keys.get("ci");
  sandbox.keys.rotate("active", { overlap: "10m" });
});

test("path ids and error codes are closed lists", () => {
  expectTypeOf<"401.rotated">().toExtend<PathId>();
  expectTypeOf<"401.tired">().not.toExtend<PathId>();
  expectTypeOf<"access_denied">().toExtend<ApiErrorCode>();
  expectTypeOf<"key_not_active">().toExtend<SandboxErrorCode>();
  const sandbox = createSandbox();
  // @ts-expect-error there is no such path
  sandbox.requests.list({ pathId: "401.tired" });
});

test("the msw door takes any sandbox and gives msw's handlers", () => {
  expectTypeOf(createHandlers).returns.toEqualTypeOf<HttpHandler[]>();
  expectTypeOf(handlers).toEqualTypeOf<HttpHandler[]>();
  createHandlers(createSandbox({ scenario: "rotation" }), { baseUrl: "https://api.example" });
  expectTypeOf(ready.secret).parameter(0).extract<"active">().toEqualTypeOf<"active">();
});

test("the node door gives a server with a sandbox of known refs", async () => {
  const start = () => startServer({ scenario: "revoked" });
  type Server = Awaited<ReturnType<typeof start>>;
  expectTypeOf<Server["sandbox"]["secret"]>()
    .parameter(0)
    .toEqualTypeOf<"revoked" | "fresh" | "other-system">();
  const startFile = () => startServer({ scenario: "./mine.yaml" });
  expectTypeOf<Awaited<ReturnType<typeof startFile>>["sandbox"]>().toExtend<Sandbox>();
});
