import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { noBrowser } from "../support/chromium-page.js";
import { clipboard, openDashboard } from "./open-dashboard.js";

// What people come to the page for, and the most clicks that each of it takes.

interface Screen {
  readonly width: number;
  readonly height: number;
  readonly colorScheme: "light" | "dark";
}

const screens: readonly Screen[] = [
  { width: 1440, height: 900, colorScheme: "light" },
  { width: 1024, height: 768, colorScheme: "dark" },
  { width: 1280, height: 720, colorScheme: "light" },
];

/** Opens the page of a sandbox on a screen; notes the clicks of the mouse. */
async function begin(screen: Screen, scenario = "key-states") {
  const { colorScheme, ...viewport } = screen;
  const dashboard = await openDashboard({ scenario, context: { viewport, colorScheme } });
  return { ...dashboard, clicks: clicksOn(dashboard.page) };
}

function clicksOn(page: Page) {
  let count = 0;
  const click = async (target: ReturnType<Page["locator"]>) => {
    count += 1;
    await target.first().click();
  };
  return {
    count: () => count,
    link: (name: string) => click(page.getByRole("link", { name, exact: true })),
    button: (name: string | RegExp) => click(page.getByRole("button", { name })),
  };
}

describe.skipIf(noBrowser).each(screens)("at $width by $height, $colorScheme", (screen) => {
  test("create a key and copy its first request", async () => {
    const { page, clicks } = await begin(screen);
    await clicks.link("Keys");
    await clicks.button("Create a key");
    await page.getByLabel("Name", { exact: true }).fill("Core banking");
    await clicks.button("Create the key");
    await page.locator(".secret .code").waitFor();
    await clicks.button("Copy as curl");
    await expect.poll(() => clipboard(page)).toMatch(/^curl -i -H "x-api-key: SVC_test_sbx/);
    expect(clicks.count()).toBeLessThanOrEqual(4);
  });

  test("see every outcome, with one click each", async () => {
    const { page, clicks, ask } = await begin(screen);
    for (let seen = 1; seen <= 3; seen++) {
      await clicks.button("Send it now");
      await expect.poll(async () => (await ask("/requests?source=story")).body.data.length).toBe(seen);
      const { outcome } = (await ask("/requests?source=story")).body.data.at(-1);
      await page.locator(`a.exit-by-story[data-outcome="${outcome}"]`).waitFor();
      // The next one is another outcome.
      await page.locator("#section-next > p", { hasNotText: outcome }).first().waitFor();
    }
    expect(clicks.count()).toBe(3);
  });

  test("break the connection of one key, and turn it off again", async () => {
    const { page, clicks, ask, send } = await begin(screen);
    await clicks.link("Sandbox");
    await page.getByLabel("For key").fill("active");
    await clicks.button(/^Connection reset$/);
    await page.getByText("Every request with the key active: connection reset.").waitFor();
    await expect(send("active")).rejects.toThrow();
    await clicks.button(/^Turn off$/);
    await expect.poll(async () => (await ask("/faults")).body.data).toEqual([]);
    expect(clicks.count()).toBeLessThanOrEqual(4);
  });
});
