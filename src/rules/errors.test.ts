import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { SandboxError } from "./errors.js";

test("an error of the sandbox is known by its brand, also to another build; nothing else is one", () => {
  const error = new SandboxError("unknown_ref", "Failed.");
  const ofAnotherBuild = Object.defineProperty(new Error("Failed."), Symbol.for("svc-sandbox.error"), {
    value: true,
  });
  expect([error.name, error.details]).toEqual(["SandboxError", {}]);
  for (const one of [error, ofAnotherBuild]) expect(one).toBeInstanceOf(SandboxError);
  for (const other of [null, undefined, "unknown_ref", 1, new Error("Failed."), { code: "unknown_ref" }]) {
    expect(other instanceof SandboxError).toBe(false);
  }
});

test("R46 the details of an error have no key, also in an object without a prototype or of another realm", () => {
  const key = "SVC_live_9f8e7d6c5b4a";
  const withoutPrototype = Object.assign(Object.create(null), { a: key });
  const ofAnotherRealm = runInNewContext(`({ a: ["${key}"] })`);
  const { details } = new SandboxError("unknown_ref", "Failed.", { withoutPrototype, ofAnotherRealm });
  expect(details).toEqual({ withoutPrototype: { a: "SVC_live_…" }, ofAnotherRealm: { a: ["SVC_live_…"] } });
});

test("R46 the details of an error have no key in what is no plain data, nor in a value inside itself", () => {
  const key = "SVC_live_9f8e7d6c5b4a";
  class WithKey {
    readonly secret = key;
    get again(): string {
      return key;
    }
  }
  class Tagged {
    readonly [Symbol.toStringTag] = key;
  }
  const given: Record<string, unknown> = {
    list: [key],
    map: new Map([[key, key]]),
    date: Object.assign(new Date(0), { key }),
    error: Object.assign(new Error(key), { cause: key }),
    sandboxError: new SandboxError("state_unwritable", "Failed.", { secret: key }),
    url: new URL(`https://example.com/${key}`),
    instance: new WithKey(),
    taggedInstance: new Tagged(),
    namedByKey: { [Symbol.toStringTag]: key, toJSON: () => key },
    boxed: Object(key),
    function: () => key,
    symbol: Symbol(key),
    get computed() {
      return key;
    },
    plain: [1, 2n, true, null, undefined],
  };
  given.self = given;
  (given.list as unknown[]).push(given.list, { outer: given });

  const { details } = new SandboxError("usage", "Failed.", given);

  expect(details).toEqual({
    list: ["SVC_live_…", "[circular]", { outer: "[circular]" }],
    map: "a Map",
    date: "a Date",
    error: "a Error",
    sandboxError: "a Error",
    url: "a URL",
    instance: "an instance of a class",
    taggedInstance: "a SVC_live_…",
    namedByKey: { toJSON: "a Function" },
    boxed: "a String",
    function: "a Function",
    symbol: "Symbol(SVC_live_…)",
    computed: "SVC_live_…",
    plain: [1, 2n, true, null, undefined],
    self: "[circular]",
  });
});
