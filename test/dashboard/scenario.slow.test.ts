import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { parseScenario } from "../../src/index.js";
import { noBrowser } from "../support/chromium-page.js";
import { openDashboard } from "./open-dashboard.js";

const written = `# A scenario of the test
version: 1
name: Written by hand
organizations:
  village-bank:
    type: bank
    keys:
      main: { environment: test }
`;

const textOf = (page: Page) => page.locator(".lines .text");
const choose = (page: Page, text: string) =>
  page
    .getByLabel("Scenario file")
    .setInputFiles({ name: "mine.yaml", mimeType: "application/yaml", buffer: Buffer.from(text) });

async function load(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: `Load ${name}`, exact: true }).click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: `Load ${name}` })
    .click();
  await page.locator(".scenario-parts h2", { hasText: name }).waitFor();
}

describe.skipIf(noBrowser)("the view of the scenario", () => {
  test("shows the text as it was written, with the numbers of its lines, and saves it", async () => {
    const { page } = await openDashboard({ scenario: "rotation", view: "/scenario" });
    const file = readFileSync("scenarios/rotation.yaml", "utf8");
    await expect.poll(() => textOf(page).textContent()).toBe(file);
    const lines = file.trimEnd().split("\n");
    expect(await page.locator(".lines pre").first().innerText()).toBe(
      lines.map((_, index) => index + 1).join("\n"),
    );
    await page.getByText("start my.yaml --watch").waitFor();
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).press("Enter");
    expect((await saved).suggestedFilename()).toBe("rotation.yaml");
    expect(readFileSync(await (await saved).path(), "utf8")).toBe(file);
  });

  test("loads a bundled scenario after a question, and the own one of the start again after two others", async () => {
    const { page, server, ask } = await openDashboard({
      scenario: parseScenario(written),
      view: "/scenario",
    });
    const text = (await ask("/scenario")).text;
    await server.sandbox.fetch(`${server.url}/v1/relying-party/me`);
    server.sandbox.keys.rotate("main");
    await page.getByRole("button", { name: "Load revoked" }).click();
    await page.getByText("This discards 1 request, 1 key created since the start and all other").waitFor();
    await page.getByText("It replaces Written by hand, which stays in the list.").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    expect((await ask("/health")).body.scenario).toBe("Written by hand");
    await load(page, "revoked");
    await load(page, "rotation");
    const first = page.locator(".scenario-parts li").first();
    await first.getByText("the sandbox was started with it").waitFor();
    await load(page, "Written by hand");
    expect((await ask("/scenario")).text).toBe(text);
  });

  test("a file is checked before it replaces anything: its problems lead to their places", async () => {
    const { page, server, ask } = await openDashboard({ view: "/scenario" });
    const before = server.sandbox.snapshot();
    await choose(page, `${written}${"# more\n".repeat(200)}`.replace("type: bank", "type: bnk"));
    await page.getByRole("alert").filter({ hasText: "1 problem found." }).waitFor();
    await page.getByText(/bnk.*did you mean bank/).waitFor();
    expect(await page.getByRole("button", { name: "Load mine.yaml" }).count()).toBe(0);
    await page.getByRole("button", { name: "6:11" }).press("Enter");
    expect(await page.evaluate(() => String(getSelection()))).toBe("bnk");
    expect(server.sandbox.snapshot()).toEqual(before);
    await choose(page, written);
    await page.getByText("No problems found.").waitFor();
    await page.getByRole("button", { name: "Load mine.yaml" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Load mine.yaml" }).click();
    await page.locator(".scenario-name", { hasText: "Written by hand" }).waitFor();
    expect((await ask("/scenario")).text).toBe(written);
    await page.getByRole("button", { name: "Load expired" }).click();
    await page.getByText("which is in no list: download it first").waitFor();
  });

  test("shows a scenario that is started elsewhere, and hides the keys that it pins", async () => {
    const secret = `SVC_test_sbx${"a1B2".repeat(8)}`;
    const { page, ask, heard } = await openDashboard({ view: "/scenario" });
    const text = written.replace("environment: test", `environment: test, secret: ${secret}`);
    await ask("/scenario", { method: "PUT", json: { name: "rotation" } });
    await expect.poll(() => textOf(page).textContent()).toContain("start rotation");
    await choose(page, text);
    await page.getByRole("button", { name: "Load mine.yaml" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Load mine.yaml" }).click();
    await expect.poll(() => textOf(page).textContent()).toContain("SVC_test_…");
    await page.getByText("Pinned keys are hidden.").waitFor();
    await ask("/scenario");
    expect(heard.join()).not.toContain(secret);
  });
});
