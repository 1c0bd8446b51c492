import { expect, test } from "vitest";
import { expectRefusal, open } from "./world.js";

test("fields that are left out stay as they are", () => {
  const { organizations } = open();
  const before = organizations.get("bank");
  const updated = organizations.update("bank", { sandboxAccess: false, status: undefined } as never);
  expect(updated).toEqual({ ...before, sandboxAccess: false });
  expect([organizations.get("bank"), organizations.update("bank", {})]).toEqual([updated, updated]);
});

test.each([
  [{ status: "paused" }, "status"],
  [{ liveAccess: "pending" }, "live_access"],
  [{ id: "another" }, "id"],
])("%j is refused", (wrong, field) => {
  const sandbox = open();
  const update = () => sandbox.organizations.update("bank", wrong as never);
  expectRefusal(sandbox, update, "validation_failed", { fields: { [field]: expect.any(String) } });
});

test("an unknown organization is refused", () => {
  const sandbox = open();
  expectRefusal(sandbox, () => sandbox.organizations.update("bnak", {}), "unknown_ref", {
    kind: "organization",
    ref: "bnak",
  });
});
