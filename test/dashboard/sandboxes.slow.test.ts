import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { serveControl } from "../control/client.js";
import { noBrowser } from "../support/chromium-page.js";
import { openDashboard, quiet, settled, viewsOf } from "./open-dashboard.js";

// The dashboard in sandboxes that are empty, large or gone.

const clock = { now: "2026-03-02T09:00:00Z" };
const bank = { type: "bank" as const };

/** What is wrong with a view as it is drawn. */
function defects(): string[] {
  const found = [];
  const main = document.querySelector("main");
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push(`scrolls sideways: ${scrollWidth} > ${clientWidth}`);
  if (main?.querySelector("h1")?.textContent === "Not found") found.push("not found");
  if (main?.querySelector('[role="alert"]')) found.push(`alert: ${main.textContent?.slice(0, 300)}`);
  // A heading and something to read or to do.
  if ((main?.textContent?.trim().length ?? 0) < 40) found.push(`nothing to see: ${main?.textContent}`);
  if (/undefined|NaN|\[object/.test(main?.textContent ?? ""))
    found.push(`${main?.textContent?.slice(0, 300)}`);
  const elements = document.querySelectorAll("*").length;
  if (elements > 8000) found.push(`${elements} elements`);
  return found;
}

async function expectUsable(page: Page, view: string): Promise<string> {
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await page.evaluate(defects), `${view}, ${width} pixels`).toEqual([]);
  }
  return page.locator("main").innerText();
}

describe.skipIf(noBrowser)("every view", () => {
  test("is usable with an organization without keys", async () => {
    const scenario = { version: 1, clock, organizations: { bank } } as const;
    const { page, go } = await openDashboard({ scenario });
    for (const view of await viewsOf(page)) {
      await go(view);
      await quiet(page);
      await expectUsable(page, view);
    }
  });

  test("says that the sandbox is gone, and shows the other scenario that is there when it is back", async () => {
    const { server, another } = await openDashboard({ scenario: "announced-endpoints", settles: false });
    const views = ["overview", "requests", "keys", "story", "sandbox"];
    const pages = [];
    for (const view of views) {
      const one = await another();
      await one.goto(`${server.controlUrl}/#/${view}`);
      await settled(one);
      await quiet(one);
      pages.push(one);
    }
    await server.close(0);
    for (const one of pages) await one.getByText("The sandbox does not respond").waitFor();
    await serveControl({ port: Number(new URL(server.url).port), scenario: "key-states" });
    for (const [index, one] of pages.entries()) {
      await settled(one);
      await one.locator(".scenario-name", { hasText: "key-states" }).waitFor();
      await quiet(one);
      await expectUsable(one, views[index] as string);
      const text = await one.locator("body").innerText();
      expect(
        /does not respond|Field and Harvest|lending-live/i.exec(text)?.[0],
        views[index],
      ).toBeUndefined();
    }
  });
});
