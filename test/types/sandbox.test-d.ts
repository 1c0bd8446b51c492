import type { HttpHandler } from "msw";
import { expectTypeOf, test } from "vitest";
import {
  type AdviceId,
  type ApiErrorBody,
  type ApiErrorCode,
  type CreatedKey,
  createSandbox,
  type Farmer,
  type KeyContext,
  type KeyRef,
  type OutcomeId,
  type Report,
  type Sandbox,
  type SandboxErrorCode,
  type SandboxOptions,
  type Scenario,
} from "../../src/index.js";
import { createHandlers, handlers, sandbox as ready } from "../../src/integrations/msw.js";
import { startServer } from "../../src/server/index.js";

test("the refs of a bundled scenario are known to the compiler", () => {
  const sandbox = createSandbox({ scenario: "rotation" });
  expectTypeOf(sandbox.secret)
    .parameter(0)
    .toEqualTypeOf<"rotated" | "retiring" | "replacement" | "malformed" | "unknown">();
  expectTypeOf(sandbox.organizations.get).parameter(0).toEqualTypeOf<"amberfield-mutual">();
  // @ts-expect-error there is no such key
  sandbox.secret("retirng");
});

test("the refs of a scenario value are known to the compiler, also with a population", () => {
  const organizations = { bank: { type: "bank", keys: { main: { environment: "test" } } } } as const;
  const sandbox = createSandbox({ scenario: { version: 1, organizations } });
  expectTypeOf(sandbox.secret).parameter(0).toEqualTypeOf<"main" | "malformed" | "unknown">();
  expectTypeOf(sandbox.organizations.update).parameter(0).toEqualTypeOf<"bank">();
  const many = createSandbox({ scenario: { version: 1, organizations, population: { organizations: 3 } } });
  expectTypeOf<"main" | "organization-3-key-1">().toExtend<Parameters<typeof many.secret>[0]>();
  expectTypeOf<"bank" | "organization-3">().toExtend<Parameters<typeof many.organizations.get>[0]>();
  // @ts-expect-error there is no such key
  many.secret("mian");
  // @ts-expect-error no population has such a key
  many.secret("organization-7-kay-2");
  expectTypeOf(many.farmers.at(0)).toEqualTypeOf<Farmer>();
});

test("the refs of a scenario that is known at run time only are any text", () => {
  const sandbox = createSandbox({ scenario: {} as Scenario });
  expectTypeOf(sandbox.secret).parameter(0).toEqualTypeOf<string>();
});

test("keys made at run time are called by the ref that the sandbox gives back", () => {
  const sandbox = createSandbox();
  expectTypeOf(sandbox.keys.create).returns.toEqualTypeOf<CreatedKey>();
  const { key } = sandbox.keys.rotate("active", { overlap: "10m" });
  sandbox.keys.revoke(key.ref);
  sandbox.requests.list({ key: key.ref });
  sandbox.requests.list({ key: "none" });
  sandbox.faults.set([...sandbox.faults.list(), { when: { key: key.ref }, then: { reset: true } }]);
  // @ts-expect-error there is no such key
  sandbox.faults.set([{ when: { key: "nope" }, then: { reset: true } }]);
  // @ts-expect-error there is no such organization
  sandbox.faults.set([{ when: { organization: "nope" }, then: { reset: true } }]);
});

test("the refs of keys that a timeline makes are known to the compiler", () => {
  const organizations = { bank: { type: "bank", keys: { main: { environment: "test" } } } } as const;
  const timeline = [
    { at: "10m", rotate: { key: "main", as: "next" } },
    { at: "20m", create_key: { organization: "bank", environment: "test", name: "CI", ref: "ci" } },
    { at: "30m", revoke: { key: "ci" } },
  ] as const;
  const sandbox = createSandbox({ scenario: { version: 1, organizations, timeline: [...timeline] } });
  expectTypeOf(sandbox.secret).parameter(0).toEqualTypeOf<"main" | "next" | "ci" | "malformed" | "unknown">();
});

test("KeyRef has what secret accepts, and calls that need a key of the scenario take no other word", () => {
  const sandbox = createSandbox({ scenario: "rotation" });
  expectTypeOf<KeyRef<"rotation">>().toEqualTypeOf<Parameters<typeof sandbox.secret>[0]>();
  // @ts-expect-error no key has this ref
  sandbox.keys.revoke("unknown");
});

test("an editor suggests the successes of /me among outcomes", () => {
  expectTypeOf<"200.test">().toEqualTypeOf<Extract<OutcomeId, "200.test">>();
  expectTypeOf<"201.createConsent">().toExtend<OutcomeId>();
  expectTypeOf<"203.any">().not.toExtend<OutcomeId>();
});

test("any sandbox takes any ref, and can be one whose refs are known", () => {
  const sandbox: Sandbox = createSandbox({ scenario: "rotation" });
  sandbox.keys.revoke("nope");
  sandbox.requests.list({ key: "nope" });
  sandbox.faults.set([{ when: { key: "nope" }, then: { reset: true } }]);
});

test("a duration has one spelling", () => {
  const sandbox = createSandbox();
  sandbox.clock.advance("90s");
  sandbox.clock.advance("-1h");
  sandbox.clock.advance(90_000);
  // @ts-expect-error 31m
  sandbox.clock.advance("31 minutes");
  // @ts-expect-error 2s
  sandbox.faults.set([{ then: { latency: "2 seconds" } }]);
});

test("unknown options are mistakes", () => {
  // @ts-expect-error seed
  createSandbox({ sead: 1 });
  // @ts-expect-error there is no such scenario
  createSandbox({ scenario: "rotatoin" });
  const options: SandboxOptions = { seed: 1 };
  expectTypeOf(createSandbox(options)).toEqualTypeOf<Sandbox>();
});

test("a function that gets a ref has the type KeyRef, as docs/library.md shows", () => {
  const sandbox = createSandbox({ scenario: "key-states" });
  const keyOf = (ref: KeyRef<"key-states">) => sandbox.secret(ref);
  keyOf("revoked");
  // @ts-expect-error any text
  const keyOfText = (ref: string) => sandbox.secret(ref);
  expectTypeOf(keyOfText).toBeFunction();
});

test("a wrong value of an inline scenario is a mistake; a misspelled field is one where the scenario has its type", () => {
  const keys = { main: { environment: "test" } } as const;
  const organizations = { bank: { type: "bank", keys } } as const;
  // @ts-expect-error type
  createSandbox({ scenario: { version: 1, organizations: { bank: { type: "banc" } } } });
  // @ts-expect-error organizations
  createSandbox({ scenario: { version: 1, organisations: {} } satisfies Scenario });
  const keysOf = createSandbox({ scenario: { version: 1, organizations } }).keys;
  keysOf.rotate("main", { as: "next" });
  keysOf.get("next");
  const body = { anything: { at: ["all"] } };
  const story = [{ request: { key: "main", method: "POST", body } }];
  expectTypeOf(createSandbox({ scenario: { version: 1, organizations, story } }).secret)
    .parameter(0)
    .toEqualTypeOf<"main" | "malformed" | "unknown">();
});

test("outcomes and error codes are closed lists", () => {
  expectTypeOf<"401.rotated">().toExtend<OutcomeId>();
  expectTypeOf<"401.tired">().not.toExtend<OutcomeId>();
  expectTypeOf<"access_denied">().toExtend<ApiErrorCode>();
  expectTypeOf<"key_not_active">().toExtend<SandboxErrorCode>();
});

test("a report is plain data of closed lists", () => {
  expectTypeOf(createSandbox().report).returns.toEqualTypeOf<Report>();
  expectTypeOf<Report["advice"][number]["id"]>().toEqualTypeOf<AdviceId>();
  expectTypeOf<Report["outcomes"][number]["outcome"]>().toEqualTypeOf<OutcomeId>();
  expectTypeOf<"key-in-body">().not.toExtend<AdviceId>();
});

test("svc-sandbox/msw accepts any sandbox and returns msw's handlers", () => {
  expectTypeOf(createHandlers).returns.toEqualTypeOf<HttpHandler[]>();
  expectTypeOf(handlers).toEqualTypeOf<HttpHandler[]>();
  createHandlers(createSandbox({ scenario: "rotation" }), { baseUrl: "https://api.example" });
  expectTypeOf(ready.secret).parameter(0).extract<"active">().toEqualTypeOf<"active">();
});

test("svc-sandbox/node returns a server with a sandbox of known refs", async () => {
  const start = () => startServer({ scenario: "revoked" });
  type Server = Awaited<ReturnType<typeof start>>;
  expectTypeOf<Server["sandbox"]["secret"]>()
    .parameter(0)
    .toEqualTypeOf<"revoked" | "fresh" | "other-system" | "malformed" | "unknown">();
  const startFile = () => startServer({ scenario: "./mine.yaml" });
  expectTypeOf<Awaited<ReturnType<typeof startFile>>["sandbox"]>().toExtend<Sandbox>();
});

test("R2 R3 R4 R5 R6 R27 the bodies of the API have the types of their shapes", () => {
  expectTypeOf<KeyContext["data"]>().toEqualTypeOf<{
    readonly organization: { readonly id: string; readonly name: string; readonly type: "bank" | "insurer" };
    readonly environment: "test" | "live";
    readonly scopes: readonly string[];
    readonly limits: { readonly per_minute: number; readonly per_day: number };
    readonly usage: { readonly today: number };
  }>();
  expectTypeOf<ApiErrorBody["error"]["code"]>().toEqualTypeOf<string>();
  expectTypeOf<ApiErrorBody["error"]["details"]>().toExtend<Readonly<Record<string, unknown>> | undefined>();
});
