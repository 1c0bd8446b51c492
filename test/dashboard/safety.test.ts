import { describe, expect, test } from "vitest";
import { noBrowser } from "../support/chromium-page.js";
import { keptOf, openDashboard, quiet, viewsOf } from "./open-dashboard.js";

// What the page keeps; who may have it is in control/browser.slow.test.ts.

describe.skipIf(noBrowser)("in Chromium", () => {
  test("where a token is needed every view works with it, and it stands in the session's storage alone", async () => {
    const controlToken = "a-token-of-the-test";
    // It has the most views.
    const scenario = "announced-endpoints";
    const view = `token=${controlToken}`;
    const { page, go, sandbox } = await openDashboard({ controlToken, host: "0.0.0.0", scenario, view });
    const said: string[] = [];
    const rejected: string[] = [];
    page.on("request", (request) => {
      said.push(`${request.url()} ${request.postData() ?? ""} ${request.headers().referer ?? ""}`);
    });
    page.on("console", (message) => said.push(message.text()));
    page.on("response", (response) => {
      if (response.status() >= 400) rejected.push(`${response.status()} ${response.url()}`);
    });
    for (const view of await viewsOf(page)) {
      await go(view);
      await quiet(page);
      const { session, others } = await keptOf(page);
      expect(session.filter((text) => text.includes(controlToken))).toEqual([controlToken]);
      expect(others, view).not.toContain(controlToken);
    }
    expect(said.length).toBeGreaterThan(10);
    expect([rejected, said.filter((text) => text.includes(controlToken))]).toEqual([[], []]);
    // A write, and what the sandbox holds afterwards.
    const before = sandbox.clock.now();
    await go("sandbox");
    await page.getByRole("button", { name: "+1 h" }).click();
    await expect.poll(() => sandbox.clock.now() - before).toBe(3_600_000);
  });
});
