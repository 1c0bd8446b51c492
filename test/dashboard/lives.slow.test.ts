import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { noBrowser } from "../support/chromium-page.js";
import { hashOf, openDashboard, quiet, settled } from "./open-dashboard.js";

const lives = (page: Page) => page.getByRole("region", { name: "Lives of the keys" });

const lifeOf = (page: Page, ref: string) =>
  lives(page)
    .getByRole("listitem")
    .filter({ has: page.getByRole("link", { name: ref, exact: true }) });

/** What is drawn of a key, from left to right. */
const drawn = async (page: Page, ref: string) => {
  const parts = lifeOf(page, ref).locator(".life > g");
  return parts.evaluateAll((all) => all.map((part) => part.getAttribute("class")));
};

/** Where an element's middle is, in pixels. */
async function middleOf(page: Page, selector: string): Promise<number> {
  const { x = Number.NaN, width = 0 } = (await lives(page).locator(selector).first().boundingBox()) ?? {};
  return x + width / 2;
}

describe.skipIf(noBrowser)("the lives of the keys", () => {
  test("each key has its line, and a dot for what it sent; an event moves the clock, where the picture shows what it changed", async () => {
    const { page, sandbox, send } = await openDashboard({ scenario: "key-states", view: "/keys" });
    await send("retiring", "rate-limited-minute", "retiring");
    await lifeOf(page, "retiring").getByText(", 2 requests").waitFor({ state: "attached" });
    expect(await drawn(page, "active")).toEqual(["past", "works"]);
    expect(await drawn(page, "expired")).toEqual(["ended", "ended"]);
    expect(await drawn(page, "wrong-scope")).toEqual(["past", "barred"]);
    expect(await drawn(page, "retiring")).toEqual(["retiring", "ended"]);
    expect(await drawn(page, "rate-limited-minute")).toEqual(["past", "limited", "works"]);
    const dots = lifeOf(page, "retiring").locator("circle");
    expect(await dots.evaluateAll((all) => all.map((dot) => dot.textContent))).toEqual([
      "2 requests: 200.retiring",
    ]);
    const before = await middleOf(page, ".now");
    const station = lives(page).getByRole("button", { name: "09:30 Go there: Overlap of retiring ends" });
    await station.press("Enter");
    await expect.poll(() => drawn(page, "retiring")).toEqual(["past", "ended"]);
    expect(new Date(sandbox.clock.now()).toISOString()).toBe("2026-03-02T09:30:00.000Z");
    await expect.poll(() => drawn(page, "rate-limited-minute")).toEqual(["past", "works"]);
    await expect.poll(() => middleOf(page, ".now")).toBeGreaterThan(before + 50);
    expect(await station.count()).toBe(0);
  });

  test("a key opens in the list, which keeps its filter; the picture has only what the filter leaves", async () => {
    const { page } = await openDashboard({ scenario: "key-states", view: "/keys?filter=amberfield" });
    expect(await lives(page).getByRole("link").allInnerTexts()).toEqual([
      "rotated",
      "↳ retiring",
      "↳ replacement",
      "wrong-scope",
    ]);
    await lives(page).getByRole("link", { name: "replacement" }).press("Enter");
    await page.getByRole("region", { name: "Key replacement" }).waitFor();
    expect(hashOf(page)).toBe("#/keys/replacement?filter=amberfield");
  });

  test("what is read late moves nothing below", async () => {
    const { page } = await openDashboard({ scenario: "key-states", view: "/keys" });
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/\/upcoming|\/requests/, (route) => released.then(() => route.continue()));
    await page.reload();
    const list = page.getByRole("list", { name: "Keys of harvest-bank" });
    await list.waitFor();
    const before = (await list.boundingBox())?.y;
    release();
    await settled(page);
    await lives(page).locator(".now").waitFor();
    expect((await list.boundingBox())?.y).toBe(before);
  });

  test("the story has the keys that it uses, and only its steps move the clock", async () => {
    const { page, ask } = await openDashboard({ scenario: "rotation", view: "/story" });
    const tell = async (steps: number) => {
      for (let step = 0; step < steps; step++) await ask("/story/next", { method: "POST", json: {} });
    };
    await lives(page).waitFor();
    expect(await lives(page).getByRole("link").allInnerTexts()).toEqual(["retiring", "↳ replacement"]);
    await tell(5);
    await expect.poll(() => drawn(page, "retiring")).toEqual(["past", "ended"]);
    const before = await lives(page).boundingBox();
    await tell(5);
    await expect.poll(() => drawn(page, "third-key")).toEqual(["works"]);
    expect(await drawn(page, "replacement")).toEqual(["past", "retiring", "ended"]);
    await tell(1);
    await page.getByText("Step 11 of").waitFor();
    await quiet(page);
    const after = await lives(page).boundingBox();
    const bottom = (box: typeof before) => (box?.y ?? 0) + (box?.height ?? 0);
    expect(bottom(after)).toBe(bottom(before));
    expect(await lives(page).getByRole("button").count()).toBe(0);
  });
});
