import { describe, expect, test } from "vitest";
import { axeProblems } from "../support/axe.js";
import { noBrowser } from "../support/chromium-page.js";
import { openDashboard } from "./open-dashboard.js";

describe.skipIf(noBrowser)("the documentation", () => {
  test("opens from the dashboard, looks like it, and axe finds nothing; no page scrolls sideways from 390 to 1600 pixels", async () => {
    const { page } = await openDashboard();
    const opened = page.context().waitForEvent("page");
    await page.getByRole("link", { name: "Docs" }).click();
    const docs = await opened;
    await docs.getByRole("link", { name: "Errors", exact: true }).first().click();
    await docs.getByRole("heading", { name: "All outcomes" }).waitFor();
    for (const width of [390, 1280, 1600]) {
      await docs.setViewportSize({ width, height: 900 });
      expect(await axeProblems(docs), `${width} pixels`).toEqual([]);
      const widths = await docs.evaluate(() => [
        document.documentElement.scrollWidth,
        document.documentElement.clientWidth,
      ]);
      expect(widths[0], `${width} pixels`).toBeLessThanOrEqual(widths[1] ?? 0);
    }
    for (const name of ["first-steps", "gone"]) {
      await docs.goto(new URL(name, docs.url()).href);
      await docs.setViewportSize({ width: 390, height: 900 });
      expect(await axeProblems(docs), name).toEqual([]);
    }
    await docs.emulateMedia({ colorScheme: "dark" });
    expect(await axeProblems(docs, ["color-contrast"])).toEqual([]);
  });

  test("in a narrow window, each cell of a table has the name of its column", async () => {
    const { page, server } = await openDashboard();
    await page.setViewportSize({ width: 390, height: 900 });
    await page.goto(`${server.url}/__sandbox/docs/errors`);
    const row = page.locator("tr", { hasText: "401.revoked" }).first();
    const names = await row.locator("td").evaluateAll((cells) => cells.map((cell) => cell.dataset.column));
    expect(names).toEqual(["outcome", "response", "key", "cause", "what to do"]);
    const lefts = await row
      .locator("td")
      .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().left));
    expect(new Set(lefts).size).toBe(1);
  });
});
