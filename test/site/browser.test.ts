import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { buildSite } from "../../scripts/site.js";
import { axeProblems } from "../support/axe.js";
import { chromiumFlags, chromiumPath, noBrowser } from "../support/chromium-page.js";
import { root } from "../support/pages.js";

// The site in Chromium, opened from its folder: no server, no other host.

describe.skipIf(noBrowser)("in Chromium, from files", () => {
  let folder: string;
  let browser: Browser;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "svc-sandbox-site-"));
    await buildSite({ root, into: folder, isWhole: true });
    browser = await chromium.launch({
      ...{ executablePath: chromiumPath, chromiumSandbox: false },
      args: ["--no-first-run", ...chromiumFlags],
    });
  });

  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Opens a page; the test fails when it throws, or asks for what is not a file of the site. */
  async function open(file: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    const wrong: string[] = [];
    page.on("pageerror", (error) => wrong.push(String(error)));
    page.on("console", (message) => wrong.push(message.text()));
    page.on("request", (request) => {
      if (!request.url().startsWith(pathToFileURL(folder).href)) wrong.push(request.url());
    });
    page.on("requestfailed", (request) => {
      // A picture that comes late is given up when the next page is opened.
      if (request.failure()?.errorText !== "net::ERR_ABORTED") wrong.push(`no ${request.url()}`);
    });
    onTestFinished(async () => {
      await context.close();
      expect(wrong).toEqual([]);
    });
    await page.goto(pathToFileURL(join(folder, file)).href);
    return page;
  }

  test("no page scrolls sideways from 360 to 1920 pixels", async () => {
    const page = await open("index.html");
    for (const file of readdirSync(folder).filter((name) => name.endsWith(".html"))) {
      await page.goto(pathToFileURL(join(folder, file)).href);
      for (const width of [360, 768, 1920]) {
        await page.setViewportSize({ width, height: 800 });
        expect([file, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([
          file,
          width,
        ]);
      }
    }
  });

  // One page of each kind: words and code, a picture, tables with and without anchors, one that is only linked to.
  test.each([
    "index",
    "dashboard",
    "error-codes",
    "benchmarks",
    "api",
    "0001-answer-the-api-before-express",
  ])("axe finds nothing on %s.html, light and wide, dark and narrow", async (name) => {
    const page = await open(`${name}.html`);
    for (const [colorScheme, width] of [
      ["light", 1280],
      ["dark", 375],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await axeProblems(page)]).toEqual([colorScheme, []]);
    }
  });

  test("search finds a code by its name, its parts and its message, and leads to its row", async () => {
    const page = await open("index.html");
    const input = page.getByRole("searchbox");
    const first = page.locator("#search li a").first();
    await page.keyboard.press("/");
    for (const [query, href] of [
      ["live_access_not_approved", "error-codes.html#code-live_access_not_approved"],
      ["live access not approved for this organization", "error-codes.html#code-live_access_not_approved"],
      ["Too many requests.", "error-codes.html#code-rate_limited"],
      ["same-key-after-401", "report.html#advice-same-key-after-401"],
      ["address_in", "error-codes.html#refusal-address_in_use"],
      ["401.revoked", "errors.html#401revoked"],
      ["problem bad_ref", "error-codes.html#problem-bad_ref"],
    ]) {
      await input.fill(query as string);
      await expect.poll(() => first.getAttribute("href")).toBe(href);
    }
    await page.keyboard.press("Enter");
    await page.waitForURL(/error-codes\.html#problem-bad_ref$/);
    expect(await page.locator(":target").textContent()).toContain("kebab-case");
    await input.fill("qqqq");
    await expect.poll(() => page.locator("#search output").textContent()).toBe("Nothing found");
    await input.fill("rotate");
    expect(await axeProblems(page)).toEqual([]);
    await page.keyboard.press("Escape");
    expect([await input.inputValue(), await page.locator("#search ul").isVisible()]).toEqual(["", false]);
  });

  test("without JavaScript everything but the search is there", async () => {
    const page = await open("error-codes.html", { javaScriptEnabled: false });
    expect(await page.getByRole("searchbox").isVisible()).toBe(false);
    await page.locator("nav").getByText("Ways a request ends").click();
    await page.waitForURL(/errors\.html$/);
    expect(await page.locator("h1").isVisible()).toBe(true);
  });
});
