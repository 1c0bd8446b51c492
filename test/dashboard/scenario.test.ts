import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { serveControl } from "../control/client.js";
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

const editor = (page: Page) => page.getByRole("textbox", { name: "Scenario as YAML" });

/** Waits until the text is checked. */
const checked = (page: Page) => page.getByText("No problems found.").waitFor();

/** Says yes to the question before a text is applied, and waits until it is. */
async function applied(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Apply it" }).press("Enter");
  await page.getByText("The sandbox restarted with this scenario.").waitFor();
}

async function discard(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Discard the edits" }).press("Enter");
  await page.getByRole("button", { name: "Discard them" }).press("Enter");
}

describe.skipIf(noBrowser)("the view of the scenario", () => {
  test("the running scenario is in a text area as it was written, with the numbers of its lines", async () => {
    const { page } = await openDashboard({ scenario: "rotation", view: "/scenario" });
    await checked(page);
    const file = readFileSync("scenarios/rotation.yaml", "utf8");
    expect(await editor(page).inputValue()).toBe(file);
    expect(await page.locator(".editor pre").innerText()).toBe(
      file
        .split("\n")
        .map((_, index) => index + 1)
        .join("\n"),
    );
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).press("Enter");
    expect((await saved).suggestedFilename()).toBe("rotation.yaml");
    expect(readFileSync(await (await saved).path(), "utf8")).toBe(file);
  });

  test("Mod-S applies the text after a question: the server holds it, with its comments, and the replaced one comes back", async () => {
    const { page, server, ask } = await openDashboard({ view: "/scenario" });
    await checked(page);
    const before = await editor(page).inputValue();
    await editor(page).fill(written);
    await page.getByText("Edited, not applied.").waitFor();
    await checked(page);
    await ask("/send", { method: "POST", json: { key: "none" } });
    await editor(page).press("Control+s");
    await page.getByText("This discards 1 request and all other changes since the start.").waitFor();
    await page.getByText("It replaces key-states. This page can bring it back").waitFor();
    await page.getByRole("button", { name: "Cancel" }).press("Enter");
    expect((await ask("/requests")).body.data).toHaveLength(1);
    await editor(page).press("Control+s");
    await applied(page);
    expect(server.sandbox.keys.list().map(({ ref }) => ref)).toEqual(["main"]);
    expect((await ask("/scenario")).text).toBe(written);
    await page.locator(".scenario-name", { hasText: "Written by hand" }).waitFor();
    expect(await page.getByRole("button", { name: "Discard the edits" }).count()).toBe(0);
    await page.getByRole("button", { name: "Bring it back" }).click();
    await page.locator(".scenario-name", { hasText: "key-states" }).waitFor();
    await expect.poll(() => editor(page).inputValue()).toBe(before);
  });

  test("a problem selects its place; a refusal is seen where the text is, and ends with the edit that fixes it", async () => {
    const { page, server } = await openDashboard({ view: "/scenario" });
    await checked(page);
    const before = server.sandbox.snapshot();
    await editor(page).fill(`${written}${"# more\n".repeat(200)}`.replace("type: bank", "type: bnk"));
    const problem = page.getByRole("button", { name: /6:11 error .*bnk.*did you mean bank/ });
    await problem.waitFor();
    expect((await page.locator(".editor pre").innerText()).split("\n").slice(4, 7)).toEqual([
      "5",
      "✗ 6",
      "7",
    ]);
    await editor(page).press("Control+End");
    await editor(page).press("Control+s");
    const refusal = page.getByRole("alert").filter({ hasText: "Not applied. Line 6: " });
    await refusal.waitFor();
    for (const size of [
      { width: 1440, height: 900 },
      { width: 390, height: 700 },
    ]) {
      await page.setViewportSize(size);
      await editor(page).press("End");
      const box = await refusal.boundingBox();
      expect(box && box.y >= 0 && box.y + box.height <= size.height, `${size.width}`).toBe(true);
    }
    expect(server.sandbox.snapshot()).toEqual(before);
    await problem.press("Enter");
    const selected = () =>
      editor(page).evaluate(({ value, selectionStart, selectionEnd }: HTMLTextAreaElement) =>
        value.slice(selectionStart, selectionEnd),
      );
    expect(await selected()).toBe("bnk");
    await page.keyboard.type("bank");
    await refusal.waitFor({ state: "detached" });
    await checked(page);
    await editor(page).press("Control+s");
    await applied(page);
    expect(server.sandbox.organizations.list().map(({ ref }) => ref)).toEqual(["village-bank"]);
  });

  test("edits are found again in the view after another one, and discarded after a question", async () => {
    const { page, go } = await openDashboard({ view: "/scenario" });
    await checked(page);
    const before = await editor(page).inputValue();
    await editor(page).fill(written);
    await go("overview");
    await go("scenario");
    await page.getByText("Edited, not applied.").waitFor();
    expect(await editor(page).inputValue()).toBe(written);
    await discard(page);
    await page.getByText("This is the running scenario.").waitFor();
    expect(await editor(page).inputValue()).toBe(before);
  });

  test("a bundled scenario is loaded after a question that lists what goes, edits included", async () => {
    const { page, server, ask } = await openDashboard({ view: "/scenario" });
    await checked(page);
    const running = async () => (await ask("/health")).body.scenario;
    await server.sandbox.fetch(`${server.url}/v1/relying-party/me`);
    server.sandbox.keys.rotate("active");
    await page.getByRole("button", { name: "Load revoked" }).click();
    await page.getByText("This discards 1 request, 1 key created since the start and all other").waitFor();
    expect(await running()).toBe("key-states");
    await page.getByRole("dialog").getByRole("button", { name: "Load revoked" }).click();
    await page.getByText("It replaced key-states.").waitFor();
    expect(await running()).toBe("revoked");
    await expect.poll(() => editor(page).inputValue()).toContain("revoked");
    await editor(page).fill(written);
    await page.getByRole("button", { name: "Load expired" }).click();
    await page.getByRole("button", { name: "Load expired and discard the edits" }).click();
    await expect.poll(() => editor(page).inputValue()).toContain("start expired");
  });

  test("a scenario that is started elsewhere is shown, and edits stay beside it", async () => {
    const { page, ask, another } = await openDashboard({ view: "/scenario" });
    await checked(page);
    const other = await another();
    await other.getByRole("button", { name: "Load expired" }).click();
    await other.getByRole("dialog").getByRole("button", { name: "Load expired" }).click();
    await expect.poll(() => editor(page).inputValue()).toContain("start expired");
    expect(await page.getByText("Another scenario is now running").count()).toBe(0);
    await editor(page).fill(written);
    await ask("/scenario", { method: "PUT", json: { name: "rotation" } });
    await page.getByText("Another scenario is now running: rotation").waitFor();
    expect(await editor(page).inputValue()).toBe(written);
    await discard(page);
    await expect.poll(() => editor(page).inputValue()).toContain("start rotation");
  });

  test("a key that the scenario pins is hidden, and the page shows that", async () => {
    const secret = `SVC_test_sbx${"a1B2".repeat(8)}`;
    const { page, ask, heard } = await openDashboard({ view: "/scenario" });
    await checked(page);
    await editor(page).fill(written.replace("environment: test", `environment: test, secret: ${secret}`));
    await page.getByRole("button", { name: "Apply" }).press("Enter");
    await applied(page);
    await page.reload();
    await expect.poll(() => editor(page).inputValue()).toContain("SVC_test_…");
    await page.getByText("Pinned keys are hidden").waitFor();
    await page.getByRole("button", { name: "Load revoked" }).click();
    await page.getByText("start it again from its file").waitFor();
    await ask("/scenario");
    expect(heard.join()).not.toContain(secret);
  });

  test("the text is checked again once a sandbox that was gone is back", async () => {
    const { page, server } = await openDashboard({ view: "/scenario" });
    await checked(page);
    const { port } = new URL(server.url);
    await server.close(0);
    await editor(page).press("Control+End");
    await page.keyboard.type("# An edit");
    await page.getByText("Failed to check the text.").waitFor();
    const { server: back } = await serveControl({ port: Number(port), scenario: "revoked" });
    await checked(page);
    await page.getByText("Another scenario is now running").waitFor();
    await editor(page).press("Control+s");
    await applied(page);
    expect(back.sandbox.keys.list().length).toBeGreaterThan(5);
  });
});
