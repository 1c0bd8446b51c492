import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { reportFiles } from "../../src/dashboard/control/report-formats.generated.js";
import { noBrowser } from "../support/chromium-page.js";
import { mePath } from "../support/send.js";
import { openDashboard } from "./open-dashboard.js";

describe.skipIf(noBrowser)("the report", () => {
  test("shows why it is missing if the sandbox does not respond", async () => {
    const { page } = await openDashboard({ view: "/keys" });
    await page.route("**/__sandbox/report?*", (route) => route.abort());
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    await page.getByRole("alert").getByText("The sandbox does not respond.").waitFor();
    expect(await page.getByText("Reading…").count()).toBe(0);
    await page.unroute("**/__sandbox/report?*");
  });

  test("is saved in each format as the control plane gives it", async () => {
    const { page, server, ask, go } = await openDashboard({
      scenario: "key-states",
      controlToken: "a-token-of-the-test",
      view: "token=a-token-of-the-test",
    });
    await fetch(server.url + mePath);
    await go("overview");
    const headers = { authorization: "Bearer a-token-of-the-test" };
    for (const { title, format, extension } of reportFiles) {
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: title, exact: true }).click();
      const file = await download;
      expect(file.suggestedFilename()).toBe(`report-key-states.${extension}`);
      const { text } = await ask(`/report?format=${format}`, { headers });
      expect(readFileSync(await file.path(), "utf8")).toBe(text);
    }
  });

  test("begins anew when the requests are cleared, after a question that counts them, by keyboard", async () => {
    const { page, server, go } = await openDashboard({ scenario: "key-states" });
    await fetch(server.url + mePath);
    await go("overview");
    await page.getByText("1 client request").waitFor();
    await page.getByRole("button", { name: "Clear the requests" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByText("This discards 1 request and the report.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(server.sandbox.report().requests).toBe(1);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Clear them" }).press("Enter");
    await page.getByText("0 client requests").waitFor();
    expect(server.sandbox.report().requests).toBe(0);
    expect(server.sandbox.requests.list()).toEqual([]);
  });
});
