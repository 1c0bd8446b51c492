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
