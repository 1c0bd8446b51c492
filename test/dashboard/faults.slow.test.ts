import { describe, expect, test } from "vitest";
import { noBrowser } from "../support/chromium-page.js";
import { type Dashboard, openDashboard } from "./open-dashboard.js";

const open = (scenario = "key-states") => openDashboard({ scenario, view: "/faults" });

const assumed = async ({ ask }: Dashboard) => (await ask("/assumptions")).body.data;
const faultsOf = async ({ ask }: Dashboard) => (await ask("/faults")).body.data;

describe.skipIf(noBrowser)("the view of faults and assumptions", () => {
  test("a profile is chosen by keys, and all assumptions become its own", async () => {
    const dashboard = await open();
    const { page } = dashboard;
    await page.getByRole("radio", { name: /^minimal/ }).focus();
    await page.keyboard.press("ArrowDown");
    await page.getByText("All values match the profile typical.").waitFor();
    expect(await assumed(dashboard)).toMatchObject({ profile: "typical", retry_after: "seconds" });
  });

  test("values that differ from the profile are listed, and reset", async () => {
    const dashboard = await open();
    const { page, ask } = dashboard;
    await ask("/assumptions", { method: "PUT", json: { retry_after: "date" } });
    await page.getByText('retry_after: "date"').waitFor();
    await page.getByRole("button", { name: "Reset them" }).click();
    await page.getByText("All values match the profile minimal.").waitFor();
    expect((await assumed(dashboard)).retry_after).toBe("none");
  });

  test("each preset adds its fault for every request, with one press", async () => {
    const dashboard = await open();
    const { page } = dashboard;
    const buttons = page.locator(".presets button");
    for (let index = 0; index < (await buttons.count()); index++) {
      await buttons.nth(index).click();
      await page.locator(".faults li").nth(index).waitFor();
    }
    expect((await faultsOf(dashboard)).map(({ then }: { then: unknown }) => then)).toEqual([
      { status: 503 },
      { latency: "2s" },
      ...["reset", "hang", "truncate", "malformed"].map((effect) => ({ [effect]: true })),
      { slow: 25 },
    ]);
  });

  test("a fault that hits some requests shows live how many matched", async () => {
    const { page, server, ask } = await open();
    const third = { when: { key: "active", every: 3 }, then: { status: 503 } };
    await ask("/faults", { method: "PUT", json: { faults: [third] } });
    await page.getByText("0 requests matched.").waitFor();
    const headers = { "x-api-key": server.sandbox.secret("active") };
    for (let sent = 0; sent < 4; sent++) await fetch(`${server.url}/v1/relying-party/me`, { headers });
    await page.getByText("4 requests matched.").waitFor();
  });

  test("what is wrong in the form is shown at its own field", async () => {
    const { page } = await openDashboard({ view: "/faults" });
    const wrong = () =>
      page.locator(".field", { has: page.locator('[aria-invalid="true"]') }).allInnerTexts();
    await page.getByText("Add another fault").click();
    expect(await page.getByText("on the sandbox's clock. A duration from now (10m)").count()).toBe(2);
    await page.getByLabel("Latency").fill("soon");
    await page.getByRole("button", { name: "Add the fault" }).click();
    await page.getByRole("alert").waitFor();
    expect(await wrong()).toEqual([expect.stringMatching(/^Latency\n/)]);
    await page.getByLabel("Latency").fill('{ "min": "0ms", "max": "1s" }');
    await page.getByLabel("Requests", { exact: true }).fill("1, x");
    await page.getByRole("button", { name: "Add the fault" }).click();
    await expect.poll(wrong).toEqual([expect.stringMatching(/^Requests\n+Must be an integer/)]);
  });
});
