import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import MiniSearch from "minisearch";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { searchOptions } from "../../scripts/site/search-index.js";
import { buildSite } from "../../scripts/site.js";
import { aboutAdvice, aboutPath, aboutRejection } from "../../src/dashboard/elements/docs-link.js";
import { outcomes } from "../../src/index.js";
import { problemCauses } from "../../src/scenario/problems.js";
import { httpRejections } from "../../src/server/control/rejections.js";
import { adviceTable } from "../../src/spec/advice.js";
import { errorCauses } from "../../src/spec/errors.js";
import { axeProblems } from "../support/axe.js";
import { noBrowser, takePage } from "../support/chromium-page.js";
import { pageNames, root } from "../support/pages.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The site as its files, and in Chromium from its folder: no server, no other host.

let folder: string;
const fileOf = (name: string) => readFileSync(join(folder, name), "utf8");
const pages = () => readdirSync(folder).filter((name) => name.endsWith(".html"));

/** Everything with an address on a page: `href` and `src`. */
const addressesOn = (page: string) =>
  [...fileOf(page).matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, address = ""]) => address);
const leadsSomewhere = (page: string, address: string) => {
  const [file = "", anchor] = address.split("#");
  const target = file === "" ? page : file;
  return (
    existsSync(join(folder, target)) && (anchor === undefined || fileOf(target).includes(` id="${anchor}"`))
  );
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-sandbox-site-"));
  await buildSite({ root, into: folder, isWhole: true });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("each page of the docs, each decision and each example is on the site", () => {
  const sidebar = fileOf("index.html").replace(/^[\s\S]*<nav/, "");
  const listed = pageNames.filter((name) => !["README.md", "docs/README.md"].includes(name));
  const expected = listed.map((name) => name.replace(/^docs\/(.*)\.md$/, "$1.html"));
  for (const page of ["index.html", "changelog.html", "decisions.html", "examples.html", ...expected]) {
    expect(sidebar).toContain(`<li><a href="${page}"`);
    expect(fileOf(page)).toMatch(/<h1 id="[^"]+">[^<]/);
    expect(fileOf(page)).toContain(`href="${page}" aria-current="page"`);
  }
  const records = readdirSync(join(root, "docs/decisions"))
    .filter((name) => name !== "README.md")
    .map((name) => name.replace(".md", ".html"));
  expect(pages()).toEqual(expect.arrayContaining(records));
  const examples = readdirSync(join(root, "examples")).filter((name) => !name.includes("."));
  for (const name of examples) {
    expect(fileOf("examples.html")).toContain(`href="examples-${name}.html"`);
    expect(fileOf(`examples-${name}.html`)).toMatch(/<h1 id="[^"]+">[^<]/);
  }
  expect(fileOf("index.html")).toContain('<a href="examples.html">examples</a>');
  expect(sidebar).not.toContain("<h2>More</h2>");
});

test("every link leads to a page and an anchor, and nothing is asked of another host", () => {
  for (const page of pages()) {
    const own = addressesOn(page).filter((address) => !/^https?:/.test(address));
    expect([page, own.filter((address) => !leadsSomewhere(page, address))]).toEqual([page, []]);
    expect(fileOf(page)).not.toMatch(/<(?:script|link|img|iframe)[^>]* (?:src|href)="[a-z]*:?\/\//);
    expect(fileOf(page)).not.toMatch(/<style|<script>| style="| on[a-z]+="/);
  }
  expect(fileOf("style.css")).not.toMatch(/url\(|@import/);
});

test("a dead link fails the build, with its place", async () => {
  const broken = temporaryFolder({
    "package.json": "{}",
    "README.md": "# Start\n\n[there](docs/other.md#here), [file](gone.txt), ![picture](gone.webp)\n",
    "docs/README.md": "# Pages\n\n## Begin\n\n- [Start](../README.md): begin\n",
    "docs/other.md": "# Other\n\n[page](gone.md)\n",
    "docs/decisions/0001-one.md": "# 1. One\n",
    "examples/README.md": "# Examples\n",
  });
  const building = buildSite({ root: broken, into: join(broken, "site"), isWhole: true });
  await expect(building).rejects.toThrow(
    [
      "The pages have dead links:",
      "README.md: there is no #here in docs/other.md",
      "README.md: there is no gone.txt",
      "README.md: there is no gone.webp",
      "docs/other.md: there is no gone.md",
    ].join("\n"),
  );
  expect(existsSync(join(broken, "site"))).toBe(false);
});

test("every code has a place: each path, advice, rejection and problem, where the dashboard links to it", () => {
  const targets = [
    ...outcomes.map(({ path }) => aboutPath(path)),
    ...adviceTable.map(({ id }) => aboutAdvice(id)),
    ...Object.keys({ ...errorCauses, ...httpRejections }).map(aboutRejection),
    ...Object.keys(problemCauses).map((code) => `errors.html#problem-${code}`),
    ...outcomes.flatMap(({ code }) => (code === null ? [] : `errors.html#code-${code}`)),
    ...[0, 1, 2, 3].map((code) => `errors.html#exit-code-${code}`),
  ];
  expect(targets.length).toBeGreaterThan(150);
  expect(targets.filter((target) => !leadsSomewhere("index.html", target))).toEqual([]);
});

test("search finds codes, pages, misspelled words and pasted messages", () => {
  const index = fileOf("search-index.js").slice("searchIndex = ".length, -";\n".length);
  const search = MiniSearch.loadJSON(index, searchOptions);
  const found = (query: string) => search.search(query).map(({ id }) => id as string);
  for (const [query, href] of [
    ["dashbord", "dashboard.html"],
    ["live_access_not_approved", "errors.html#code-live_access_not_approved"],
    ["listen EADDRINUSE: address already in use", "errors.html#rejection-address_in_use"],
    ["bad_ref", "errors.html#problem-bad_ref"],
    ["same-key-after-401", "report.html#advice-same-key-after-401"],
    ["certifcate", "certify.html#certificates"],
  ])
    expect([query, found(query as string).slice(0, 8)]).toEqual([query, expect.arrayContaining([href])]);
  expect(found("qqqq")).toEqual([]);
});

describe.skipIf(noBrowser)("in Chromium, from files", () => {
  /** Opens a page; the test fails when it throws, or asks for what is not a file of the site. */
  async function open(file: string, options?: BrowserContextOptions): Promise<Page> {
    const page = await takePage(options);
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
    onTestFinished(() => expect(wrong).toEqual([]));
    await page.goto(pathToFileURL(join(folder, file)).href);
    return page;
  }

  const widthOf = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth);

  // One page of each kind: words and code, a picture, tables with and without anchors, one that is only linked to.
  test.each([
    "index",
    "dashboard",
    "errors",
    "reliability",
    "0001-answer-the-api-before-express",
  ])("axe finds nothing on %s.html, light and wide, dark and narrow, and nothing scrolls sideways", async (name) => {
    const page = await open(`${name}.html`);
    for (const [colorScheme, width] of [
      ["light", 1920],
      ["dark", 768],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await axeProblems(page), await widthOf(page)]).toEqual([colorScheme, [], width]);
    }
  });

  test("search finds a code and leads to its row", async () => {
    const page = await open("index.html");
    const input = page.getByRole("searchbox");
    const first = page.locator("#search li a").first();
    await page.keyboard.press("/");
    await input.fill("bad_ref");
    await expect.poll(() => first.getAttribute("href")).toBe("errors.html#problem-bad_ref");
    await page.keyboard.press("Enter");
    await page.waitForURL(/errors\.html#problem-bad_ref$/);
    expect(await page.locator(":target").textContent()).toContain("kebab-case");
    await input.fill("qqqq");
    await expect.poll(() => page.locator("#search output").textContent()).toBe("Nothing found");
    await input.fill("rotate");
    expect(await axeProblems(page)).toEqual([]);
    await page.keyboard.press("Escape");
    expect([await input.inputValue(), await page.locator("#search ul").isVisible()]).toEqual(["", false]);
  });
});
