import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { noBrowser } from "../support/chromium-page.js";
import { openDashboard, settled, viewsOf } from "./open-dashboard.js";

const worldOf = (population: object) => ({
  version: 1 as const,
  organizations: {
    "village-bank": { type: "bank" as const, keys: { main: { environment: "test" as const } } },
  },
  population,
});

async function showsNumbered(page: Page, text: string): Promise<void> {
  await page.locator(".pages", { hasText: text }).waitFor();
}

describe.skipIf(noBrowser)("the view of farmers", () => {
  test("the records are loaded when the view is opened, and once more when that failed", async () => {
    const { page, go } = await openDashboard({ scenario: "announced-endpoints" });
    const chunk = /\/assets\/farmer-pages/;
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.route(chunk, (route) => route.abort());
    expect(asked.filter((url) => chunk.test(url))).toEqual([]);
    await page.getByRole("link", { name: "Farmers" }).click();
    await page.getByText("Failed to load").waitFor();
    await page.unroute(chunk);
    await page.getByRole("button", { name: "Try again" }).press("Enter");
    await showsNumbered(page, "1 to 25 of 100");
    await go("overview");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  });

  test("a scenario that uses no farmers has no link to them", async () => {
    const { page } = await openDashboard({ scenario: "key-states" });
    expect(await viewsOf(page)).not.toContain("farmers");
  });

  test("a search by country lists its farmers, and survives a reload", async () => {
    const { page, server } = await openDashboard({ scenario: "announced-endpoints", view: "/farmers" });
    await showsNumbered(page, "1 to 25 of 100");
    const inGhana = server.sandbox.farmers
      .list({ limit: 100 })
      .filter(({ location }) => location.country_code === "GH").length;
    expect(inGhana).toBeGreaterThan(0);
    await page.getByLabel("Find").fill("ghana");
    await showsNumbered(page, `of ${inGhana}`);
    await page.reload();
    await settled(page);
    await showsNumbered(page, `of ${inGhana}`);
    await page.getByLabel("Find").fill("");
    await showsNumbered(page, "1 to 25 of 100");
    await page.getByRole("button", { name: "Next" }).press("Enter");
    await showsNumbered(page, "26 to 50 of 100");
  });

  test("a farmer is found by name and opened with every fact and a picture of the fields", async () => {
    const { page, server } = await openDashboard({ scenario: "announced-endpoints", view: "/farmers" });
    const farmer = server.sandbox.farmers.at(7);
    await page.getByLabel("Find").fill(farmer.name.surname);
    await page.getByRole("link", { name: `${farmer.name.given_name} ${farmer.name.surname}` }).press("Enter");
    await page.getByRole("heading", { name: farmer.name.surname }).waitFor();
    expect(page.url()).toContain(`#/farmers/${farmer.farmer_id}`);
    const shown = await page.locator("main").innerText();
    const facts = [
      farmer.farmer_id,
      farmer.location.subdivision_code,
      ...farmer.parcels.map(({ id }) => id),
      ...farmer.parcels.map(({ properties }) => properties["crop:name"]),
    ];
    for (const fact of facts) expect(shown).toContain(fact);
    const picture = page.getByRole("img", { name: /^Outlines of / });
    expect(await picture.locator("polygon").count()).toBe(farmer.parcels.length);
  });

  test("of a million farmers it shows the first five thousand and says so, and opens any other by its id", async () => {
    const { page, server } = await openDashboard({
      scenario: worldOf({ farmers: 1_000_000, locale: "tr" }),
      view: "/farmers",
    });
    await page.getByText("The first 5,000 are shown.").waitFor();
    await expect.poll(() => page.locator(".pages").innerText()).toContain("of 5,000");
    const { farmer_id: id, name } = server.sandbox.farmers.at(999_999);
    await page.getByLabel("Find").fill(id);
    await page.getByRole("link", { name: `Open ${id}` }).press("Enter");
    await page.getByRole("heading", { name: name.surname }).waitFor();
  });
});
