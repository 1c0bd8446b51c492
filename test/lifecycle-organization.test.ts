import { expect, test } from "vitest";
import { describeDashboards } from "./support/dashboard.js";
import {
  answers,
  day,
  expectRefusal,
  lifecycleScenario as scenario,
  testKey,
  unauthorized,
} from "./support/lifecycle.js";

describeDashboards("changing an organization", (open) => {
  test("R18 R41 an organization that is made inactive, and active again, takes effect with the next request", async () => {
    const dashboard = await open(scenario);
    const secret = dashboard.secret("main");
    await dashboard.updateOrganization("bank", { status: "inactive" });
    expect(await answers(dashboard, secret, dashboard.secret("revoked"))).toEqual([
      "403 access_denied",
      unauthorized,
    ]);
    await dashboard.updateOrganization("bank", { status: "active" });
    expect(await answers(dashboard, secret)).toEqual(["200"]);
  });

  test("R19 R20 live access that is suspended stops live keys and no test key", async () => {
    const dashboard = await open(scenario);
    const both = [dashboard.secret("live"), dashboard.secret("main")];
    for (const liveAccess of ["suspended", "not_approved"] as const) {
      expect(await dashboard.updateOrganization("bank", { liveAccess })).toMatchObject({ liveAccess });
      expect(await answers(dashboard, ...both)).toEqual(["403 live_access_not_approved", "200"]);
    }
    await dashboard.updateOrganization("bank", { liveAccess: "approved" });
    expect(await answers(dashboard, ...both)).toEqual(["200", "200"]);
  });

  test("an update changes what it names and nothing else", async () => {
    const dashboard = await open(scenario);
    const before = await dashboard.organization("bank");
    const updated = await dashboard.updateOrganization("bank", {
      sandboxAccess: false,
      status: undefined,
    } as never);
    expect(updated).toEqual({ ...before, sandboxAccess: false });
    expect(await dashboard.organization("bank")).toEqual(updated);
    expect(await dashboard.updateOrganization("bank", {})).toEqual(updated);
  });

  test.each([
    ["a status that there is not", { status: "paused" }, "status"],
    ["a live access that there is not", { liveAccess: "pending" }, "live_access"],
    ["a sandbox access that is no switch", { sandboxAccess: "yes" }, "sandbox_access"],
    ["a field that does not change", { id: "another" }, "id"],
  ])("%s is refused", async (_title, wrong, field) => {
    const dashboard = await open(scenario);
    await expectRefusal(
      dashboard,
      () => dashboard.updateOrganization("bank", { ...wrong } as never),
      "validation_failed",
      { fields: { [field]: expect.any(String) } },
    );
  });

  test("an organization that there is not is refused", async () => {
    const dashboard = await open(scenario);
    await expectRefusal(dashboard, () => dashboard.updateOrganization("bnak", {}), "unknown_ref", {
      kind: "organization",
      ref: "bnak",
    });
  });
});

describeDashboards("starting again", (open) => {
  test("reset undoes all that was done, and forgets the keys that were made", async () => {
    const dashboard = await open(scenario);
    const fresh = [dashboard.snapshot(), await dashboard.keys()];
    const { secret } = await dashboard.create(testKey);
    await dashboard.rotate("main");
    await dashboard.revoke("live");
    await dashboard.updateOrganization("bank", { status: "inactive" });
    await dashboard.advance(day);
    await dashboard.callMe(secret);
    await dashboard.reset();
    expect([dashboard.snapshot(), await dashboard.keys()]).toEqual(fresh);
    expect(await dashboard.requests()).toEqual([]);
    expect(await answers(dashboard, secret, dashboard.secret("main"))).toEqual([unauthorized, "200"]);
  });
});
