import { describe, expect, test } from "vitest";
import { answers, expectRefusal, open, testKey, unauthorized } from "./world.js";

describe("changing an organization", () => {
  test("R18 R41 its status takes effect with the next request", async () => {
    const sandbox = open();
    sandbox.organizations.update("bank", { status: "inactive" });
    expect(await answers(sandbox, sandbox.secret("main"), sandbox.secret("revoked"))).toEqual([
      "403 access_denied",
      unauthorized,
    ]);
    sandbox.organizations.update("bank", { status: "active" });
    expect(await answers(sandbox, sandbox.secret("main"))).toEqual(["200"]);
  });

  test("R19 R20 its live access stops live keys and no test key", async () => {
    const sandbox = open();
    const both = [sandbox.secret("live"), sandbox.secret("main")];
    for (const liveAccess of ["suspended", "not_approved"] as const) {
      expect(sandbox.organizations.update("bank", { liveAccess })).toMatchObject({ liveAccess });
      expect(await answers(sandbox, ...both)).toEqual(["403 live_access_not_approved", "200"]);
    }
    sandbox.organizations.update("bank", { liveAccess: "approved" });
    expect(await answers(sandbox, ...both)).toEqual(["200", "200"]);
  });

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
});

test("reset undoes every operation, and drops the keys that were made", async () => {
  const sandbox = open();
  const { keys, organizations, clock } = sandbox;
  const fresh = [sandbox.snapshot(), keys.list()];
  const { secret } = keys.create(testKey);
  keys.rotate("main");
  keys.revoke("live");
  organizations.update("bank", { status: "inactive" });
  clock.advance("1d");
  await answers(sandbox, secret);
  sandbox.reset();
  expect([sandbox.snapshot(), keys.list()]).toEqual(fresh);
  expect(sandbox.requests.list()).toEqual([]);
  expect(await answers(sandbox, secret, sandbox.secret("main"))).toEqual([unauthorized, "200"]);
});
