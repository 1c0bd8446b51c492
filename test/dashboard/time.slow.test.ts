import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import type { Ask } from "../control/client.js";
import { noBrowser } from "../support/chromium-page.js";
import { openDashboard } from "./open-dashboard.js";

const view = "/time";

/** What the server's clock shows. */
const nowOf = async (ask: Ask): Promise<string> => (await ask("/clock")).body.data.now;

/** Waits until a page shows a time of the clock. */
const shows = (page: Page, text: string) => page.locator(".clock").getByText(text).waitFor();

/** A key that expires, one in its overlap, and a step of the timeline between their ends. */
const eventful: Scenario = {
  version: 1,
  clock: { now: "2026-03-02T09:00:00Z", frozen: true },
  organizations: {
    bank: {
      type: "bank",
      live_access: "approved",
      keys: {
        steady: { environment: "test" },
        expiring: { environment: "test", expires: "2h" },
        retiring: { environment: "test", state: "retiring", replaced_by: "steady", overlap_ends: "30m" },
        expired: { environment: "test", expires: "-5m" },
        revoked: { environment: "test", state: "revoked" },
        rotated: { environment: "live", state: "rotated", replaced_by: "fresh" },
        fresh: { environment: "live" },
      },
    },
  },
  timeline: [{ at: "60m", revoke: { key: "steady" } }],
};

describe.skipIf(noBrowser)("time", () => {
  test("the clock is moved by buttons; another page sees it", async () => {
    const { page, ask, another } = await openDashboard({ view });
    const second = await another();
    await page.getByRole("button", { name: "+1 min" }).click();
    await shows(second, "09:01:00");
    expect(await nowOf(ask)).toBe("2026-03-02T09:01:00.000Z");
    // However fast: none is lost.
    for (const name of ["+10 min", "+10 min", "+10 min", "+1 h", "+1 d"])
      await page.getByRole("button", { name, exact: true }).click();
    await shows(second, "3 Mar 2026, 10:31:00");
    expect(await nowOf(ask)).toBe("2026-03-03T10:31:00.000Z");
  });

  test("without other changes, a reset names none", async () => {
    const { page } = await openDashboard({ view, scenario: eventful });
    await page.getByRole("button", { name: "Reset…" }).click();
    await page.getByText("This discards every change since the start.").waitFor();
  });

  test("a field moves the clock by a duration or to a time; what is over is not among what comes next", async () => {
    const { page, ask } = await openDashboard({ view, scenario: eventful });
    const field = page.getByLabel("Duration or time");
    await field.fill("90s");
    await field.press("Enter");
    await shows(page, "09:01:30");
    // Without a new list: what is over leaves the old one.
    await page.getByText("Overlap of retiring ends").first().waitFor();
    await page.route("**/__sandbox/upcoming", (route) => route.abort());
    await field.fill("2026-03-02T10:30:00Z");
    await field.press("Enter");
    await shows(page, "10:30:00");
    expect(await nowOf(ask)).toBe("2026-03-02T10:30:00.000Z");
    const rows = page.locator("tbody tr");
    await rows.getByRole("link", { name: "Key expiring expires" }).waitFor();
    expect(await rows.getByText(/ago|just now/).count()).toBe(0);
    await field.fill("soon");
    await field.press("Enter");
    await page.getByRole("alert").first().waitFor();
    expect(await page.getByRole("alert").first().innerText()).not.toContain("body");
  });

  test("R38 it goes to the next event, where the key ends, and the list shows what comes after it", async () => {
    const { page, ask } = await openDashboard({ view, scenario: eventful });
    const rows = () => page.locator("tbody tr").allInnerTexts();
    await page.getByText("Next: Overlap of retiring ends: it stops working, in 30 min").waitFor();
    expect((await rows()).map((row) => row.replaceAll(/\s+/g, " "))).toEqual([
      expect.stringMatching(/in 1 min .*The limits per minute reset/),
      expect.stringMatching(/in 30 min .*Overlap of retiring ends/),
      expect.stringMatching(/in 1 h .*Step 1 of the timeline/),
      expect.stringMatching(/in 2 h .*Key expiring expires/),
      expect.stringMatching(/in 15 h .*The limits per day reset/),
    ]);
    await page.getByRole("button", { name: "Next event" }).click();
    await shows(page, "09:30:00");
    expect((await ask("/keys/retiring")).body.data.state).toBe("rotated");
    await page.getByText("Next: Step 1 of the timeline: revoke, in 30 min").waitFor();
    await page.getByRole("button", { name: "Next event" }).click();
    await shows(page, "10:00:00");
    expect((await ask("/keys/steady")).body.data.state).toBe("revoked");
    await page.getByText("Next: Key expiring expires, in 1 h").waitFor();
    await page.getByRole("button", { name: "Go there Key expiring expires" }).press("Enter");
    await shows(page, "11:00:00");
    expect((await ask("/keys/expiring")).body.data.state).toBe("expired");
  });

  test("the clock is frozen and resumed; while it runs, events pass before one's eyes", async () => {
    const { page, ask } = await openDashboard({ view, scenario: eventful });
    await ask("/clock", { method: "PUT", json: { now: "2026-03-02T09:29:58Z" } });
    const event = page.locator("tbody tr", { hasText: "Overlap of retiring ends" });
    await event.waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.locator(".time-state").getByText("running").waitFor();
    expect((await ask("/clock")).body.data.frozen).toBe(false);
    // Nothing is asked of the page, and the end of a key is no event of the sandbox.
    await event.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Freeze" }).click();
    await page.locator(".time-state").getByText("frozen").waitFor();
    expect((await ask("/clock")).body.data.frozen).toBe(true);
  });
});
