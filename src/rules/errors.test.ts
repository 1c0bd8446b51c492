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
