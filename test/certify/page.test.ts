import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { renderCertificate } from "../../src/certify/document.js";
import type { CertifyResult } from "../../src/certify/result.js";
import { axeProblems } from "../support/axe.js";
import { noBrowser, takePage } from "../support/chromium-page.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { failed, passed } from "./certified.js";

const evil = '"><script>alert(1)</script><img src="https://x.example/a.png"> \u202e';
const many = (prefix: string) =>
  Array.from({ length: 40 }, (_, i) => ({ ...failed.runs[i % 7], name: `${prefix} ${i}` }) as never);
const bad: CertifyResult = { ...failed, scenario: evil, command: ["x".repeat(3e3), evil], runs: many(evil) };

/** A page without a network, on which a file is open until the test is over. */
async function open(file: string, requests: string[]): Promise<Page> {
  const page = await takePage({ offline: true });
  page.on("request", (request) => requests.push(request.url()));
  page.on("dialog", (dialog) => requests.push(`dialog ${dialog.message()}`));
  await page.goto(file);
  return page;
}

describe.skipIf(noBrowser)("a certificate as a page", () => {
  test.each([
    ["of a client that fails", failed],
    ["of a client that passes", passed],
    ["of a caller who writes what could break out", bad],
  ])("%s opens without a network, requests nothing, and axe finds nothing", async (_title, result) => {
    const folder = temporaryFolder({ "certificate.html": renderCertificate(result, "html") });
    const file = pathToFileURL(join(folder, "certificate.html")).href;
    const requests: string[] = [];
    const page = await open(file, requests);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeProblems(page), colorScheme).toEqual([]);
    }
    for (const width of [360, 768, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth), String(width)).toBe(width);
    }
    await page.emulateMedia({ media: "print" });
    expect((await page.pdf()).subarray(0, 5).toString()).toBe("%PDF-");
    // axe is put in from outside.
    expect(await page.locator("script, link, img, iframe, form, a").count()).toBe(0);
    expect(requests).toEqual([file]);
    const titles = await page.locator("h2").allTextContents();
    expect(titles[0]).toBe(result.verdict === "passed" ? "Runs" : "Causes");
  });
});
