import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { serveControl } from "../control/client.js";
import { noBrowser } from "../support/chromium-page.js";
import { openDashboard, quiet } from "./open-dashboard.js";

const world = `# A world of the test
version: 1
name: Written by hand
organizations:
  village-bank:
    type: bank
    keys:
      main: { environment: test }
`;

/** The editor, once its text is checked and everything for editing is loaded. */
async function editorOf(page: Page): Promise<Locator> {
  const editor = page.getByRole("textbox", { name: "Scenario as YAML" });
  await editor.waitFor();
  await page.getByText("No problems found.").waitFor();
  await editor.focus();
  await quiet(page);
  return editor;
}

/** Pastes a text in the place of the editor's. */
async function write(page: Page, text: string): Promise<void> {
  const editor = page.getByRole("textbox", { name: "Scenario as YAML" });
  await editor.press("Control+a");
  await editor.evaluate((content, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    content.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}

/** Takes the first suggestion; the editor takes no key for it within 75 ms of showing it. */
async function take(page: Page, editor: Locator): Promise<void> {
  await page.waitForTimeout(100);
  await editor.press("Enter");
}

/** Says yes to the question before a text is applied, and waits until it is. */
async function applied(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Apply it" }).press("Enter");
  await page.getByText("Applied:").waitFor();
}

describe.skipIf(noBrowser)("the view of the scenario", () => {
  test("the running scenario stands in an editor as it was written, and the editor is loaded when it is opened", async () => {
    const { page, go } = await openDashboard({ scenario: "rotation" });
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    const chunk = /\/assets\/scenario-page/;
    await page.route(chunk, (route) => route.abort());
    await page.getByRole("link", { name: "Scenario", exact: true }).click();
    await page.getByText("Failed to load").waitFor();
    await page.unroute(chunk);
    expect(asked.filter((url) => chunk.test(url)).length).toBe(1);
    await page.getByRole("button", { name: "Try again" }).click();
    const editor = await editorOf(page);
    const first = readFileSync("scenarios/rotation.yaml", "utf8").split("\n")[0] as string;
    expect(await editor.innerText()).toContain(first);
    await go("overview");
  });

  test("before its second part has loaded, the editor moves to the end of the text and undoes", async () => {
    const { page, go } = await openDashboard({ scenario: "key-states" });
    await page.route(/editor-extensions/, (route) => route.abort());
    await go("scenario");
    const editor = page.getByRole("textbox", { name: "Scenario as YAML" });
    await editor.press("Control+End");
    await page.keyboard.type("# the end");
    await page.getByText("# the end").waitFor();
    await page.keyboard.press("Control+z");
    await page.getByText("# the end").waitFor({ state: "detached" });
    await page.getByText("This is the running scenario.").waitFor();
  });

  test("Mod-S applies the text after a question: the server holds it, with its comments", async () => {
    const { page, server, ask } = await openDashboard({ view: "/scenario" });
    const editor = await editorOf(page);
    await write(page, world);
    await page.getByText("Edited, not applied.").waitFor();
    await page.getByText("No problems found.").waitFor();
    await ask("/send", { method: "POST", json: { key: "none" } });
    await editor.press("Control+s");
    await page.getByText("This discards 1 request and all other changes since the start.").waitFor();
    await page.getByRole("button", { name: "Cancel" }).press("Enter");
    expect((await ask("/requests")).body.data).toHaveLength(1);
    await editor.press("Control+s");
    await applied(page);
    expect(server.sandbox.keys.list().map(({ ref }) => ref)).toEqual(["main"]);
    expect((await ask("/scenario")).text).toBe(world);
    await page.locator(".scenario-name", { hasText: "Written by hand" }).waitFor();
    expect(await page.getByRole("button", { name: "Revert" }).isDisabled()).toBe(true);
  });

  test("problems stand at their places, a click leads there, and a rejection leaves the world as it was", async () => {
    const { page, server } = await openDashboard({ view: "/scenario" });
    const editor = await editorOf(page);
    const before = server.sandbox.snapshot();
    await write(page, world.replace("type: bank", "type: bnk"));
    const problem = page.getByRole("button", { name: /6:11 error .*bnk.*did you mean bank/ });
    await problem.waitFor();
    expect(await page.locator(".cm-lintRange-error").innerText()).toBe("bnk");
    await problem.press("Enter");
    await expect
      .poll(() =>
        page.evaluate(() => document.querySelector(".editor")?.shadowRoot?.activeElement?.className),
      )
      .toContain("cm-content");
    expect(await page.locator(".cm-activeLine").innerText()).toContain("type: bnk");

    await page.setViewportSize({ width: 390, height: 700 });
    await page.getByRole("button", { name: "Apply" }).press("Enter");
    await page.locator(".not-applied", { hasText: "listed below the editor" }).waitFor();
    await expect
      .poll(() => problem.evaluate((one) => one.getBoundingClientRect().bottom <= innerHeight))
      .toBe(true);
    expect(server.sandbox.snapshot()).toEqual(before);
    // Mended where the cursor is, it is applied.
    await editor.press("ArrowRight");
    await editor.press("a");
    await page.getByText("No problems found.").waitFor();
    await page.getByRole("button", { name: "Apply" }).press("Enter");
    await applied(page);
    expect(server.sandbox.organizations.list().map(({ ref }) => ref)).toEqual(["village-bank"]);
  });

  test("keys, choices and refs are completed by their places", async () => {
    const { page } = await openDashboard({ view: "/scenario" });
    const editor = await editorOf(page);
    await write(page, `${world}default_`);
    await editor.press("Control+Space");
    const options = page.getByRole("option");
    await options.first().waitFor();
    expect(await options.allInnerTexts()).toEqual([expect.stringContaining("default_key")]);
    await take(page, editor);
    await editor.press("Control+Space");
    await options.first().waitFor();
    expect(await options.allInnerTexts()).toEqual([expect.stringContaining("main")]);
    await take(page, editor);
    await expect.poll(() => editor.innerText()).toContain("default_key: main");
  });

  test("edits are taken back, and are found again in the view after another one", async () => {
    const { page, go } = await openDashboard({ view: "/scenario" });
    const editor = await editorOf(page);
    const before = (await editor.innerText()).slice(0, 200);
    await write(page, world);
    await page.getByText("Edited, not applied.").waitFor();
    await go("overview");
    await go("scenario");
    await page.getByText("Edited, not applied.").waitFor();
    expect(await editor.innerText()).toContain("Written by hand");
    await page.getByRole("button", { name: "Revert" }).press("Enter");
    await page.getByText("This is the running scenario.").waitFor();
    expect((await editor.innerText()).slice(0, 200)).toBe(before);
  });

  test("a bundled scenario is loaded after a question that lists what goes, edits included", async () => {
    const { page, server, ask } = await openDashboard({ view: "/scenario" });
    const editor = await editorOf(page);
    const running = async () => (await ask("/health")).body.scenario;
    const before = await running();
    await server.sandbox.fetch(`${server.url}/v1/relying-party/me`);
    server.sandbox.keys.rotate("active");
    await page.getByRole("button", { name: "Load revoked" }).click();
    await page.getByText("This discards 1 request, 1 key created since the start and all other").waitFor();
    expect(await running()).toBe(before);
    await page.getByRole("dialog").getByRole("button", { name: "Load revoked" }).click();
    await page.getByText("Loaded:").waitFor();
    expect(await running()).toBe("revoked");
    expect(server.sandbox.keys.list().some(({ state }) => state === "revoked")).toBe(true);
    await expect.poll(() => editor.innerText()).toContain("revoked");

    await write(page, world);
    await page.getByRole("button", { name: "Load rotation" }).press("Enter");
    await page.getByRole("dialog", { name: "Load rotation?" }).getByText("discard the edits").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await running()).toBe("revoked");
    await page.getByRole("button", { name: "Load rotation" }).press("Enter");
    await page.getByRole("button", { name: "Load rotation and discard the edits" }).press("Enter");
    await page.getByText("Loaded:").waitFor();
    expect(await running()).toBe("rotation");
    await expect.poll(() => editor.innerText()).not.toContain("Written by hand");
  });

  test("what is started elsewhere is shown at once, and beside edits it is said", async () => {
    const { page, ask, another } = await openDashboard({ view: "/scenario" });
    const editor = await editorOf(page);
    const other = await another();
    await other.getByRole("button", { name: "Load expired" }).click();
    await other.getByRole("dialog").getByRole("button", { name: "Load expired" }).click();
    await expect.poll(() => editor.innerText()).toContain("start expired");
    expect(await page.getByText("Another scenario is now running").count()).toBe(0);

    await write(page, world);
    await page.getByText("Edited, not applied.").waitFor();
    await ask("/scenario", { method: "PUT", json: { name: "rotation" } });
    await page.getByText("Another scenario is now running: rotation").waitFor();
    expect(await editor.innerText()).toContain("Written by hand");
    await page.getByRole("button", { name: "Discard the edits" }).press("Enter");
    await expect.poll(() => editor.innerText()).toContain("start rotation");
    await page.getByText("This is the running scenario.").waitFor();
  });

  test("a key that the scenario pins is cut, and the page says so", async () => {
    const secret = `SVC_test_sbx${"a1B2".repeat(8)}`;
    const { page, ask, heard } = await openDashboard({ view: "/scenario" });
    await editorOf(page);
    await write(page, world.replace("environment: test", `environment: test, secret: ${secret}`));
    await page.getByRole("button", { name: "Apply" }).press("Enter");
    await applied(page);
    await page.reload();
    const editor = page.getByRole("textbox", { name: "Scenario as YAML" });
    await expect.poll(() => editor.innerText()).toContain("SVC_test_…");
    await page.getByText("Pinned keys are hidden").waitFor();
    await ask("/scenario");
    expect(heard.join()).not.toContain(secret);
  });

  test("a sandbox that is gone is said beside the problems, and the text is checked again once it is back", async () => {
    const { page, server } = await openDashboard({ view: "/scenario" });
    const editor = await editorOf(page);
    const { port } = new URL(server.url);
    await server.close(0);
    await editor.press("Control+End");
    await page.keyboard.type("# An edit");
    await page.getByText("Failed to check the text.").waitFor();
    const { server: back } = await serveControl({ port: Number(port), scenario: "revoked" });
    await page.getByText("No problems found.").waitFor();
    await page.getByText("Another scenario is now running").waitFor();
    await editor.press("Control+s");
    await applied(page);
    expect(back.sandbox.keys.list().length).toBeGreaterThan(5);
  });

  test("the text is saved as a file", async () => {
    const { page } = await openDashboard({ view: "/scenario", scenario: "rotation" });
    await editorOf(page);
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).press("Enter");
    expect((await saved).suggestedFilename()).toBe("rotation.yaml");
    expect(readFileSync(await (await saved).path(), "utf8")).toBe(
      readFileSync("scenarios/rotation.yaml", "utf8"),
    );
  });
});
