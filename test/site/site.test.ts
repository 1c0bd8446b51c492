import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildSite } from "../../scripts/site.js";
import { aboutAdvice, aboutPath, aboutRefusal } from "../../src/dashboard/elements/docs-link.js";
import { adviceTable } from "../../src/domain/advice.js";
import { errorCauses } from "../../src/domain/errors.js";
import { outcomes } from "../../src/index.js";
import { httpRefusals } from "../../src/node/control/refusals.js";
import { problemCauses } from "../../src/scenario/problems/scenario-error.js";
import { pageNames, root } from "../support/pages.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The site as its files: what it holds, and where its links lead.

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

test("each page of the docs, each decision and both descriptions are on the site, in the sidebar of each page", () => {
  const sidebar = fileOf("index.html").replace(/^[\s\S]*<nav/, "");
  const listed = pageNames.filter((name) => !["README.md", "docs/README.md"].includes(name));
  const expected = listed.map((name) => name.replace(/^docs\/(.*)\.md$/, "$1.html"));
  for (const page of [
    "index.html",
    "changelog.html",
    "decisions.html",
    "api.html",
    "control-api.html",
    ...expected,
  ]) {
    expect(sidebar).toContain(`<li><a href="${page}"`);
    expect(fileOf(page)).toMatch(/<h1 id="[^"]+">[^<]/);
    expect(fileOf(page)).toContain(`href="${page}" aria-current="page"`);
  }
  const records = readdirSync(join(root, "docs/decisions")).map((name) => name.replace(".md", ".html"));
  expect(pages()).toEqual(expect.arrayContaining(records));
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

test("a link that leads nowhere fails the build, and says where it stands", async () => {
  const broken = temporaryFolder({
    "package.json": "{}",
    "README.md": "# Start\n\n[there](docs/other.md#here), [file](gone.txt), ![picture](gone.webp)\n",
    "docs/README.md": "# Pages\n\n## Begin\n\n- [Start](../README.md): begin\n",
    "docs/other.md": "# Other\n\n[page](gone.md)\n",
    "docs/decisions/0001-one.md": "# 1. One\n",
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

test("every code has a place: each path, advice, refusal and problem, where the dashboard links to it", () => {
  const targets = [
    ...outcomes.map(({ path }) => aboutPath(path)),
    ...adviceTable.map(({ id }) => aboutAdvice(id)),
    ...Object.keys({ ...errorCauses, ...httpRefusals }).map(aboutRefusal),
    ...Object.keys(problemCauses).map((code) => `error-codes.html#problem-${code}`),
    ...outcomes.flatMap(({ code }) => (code === null ? [] : `error-codes.html#code-${code}`)),
    ...[0, 1, 2, 3].map((code) => `error-codes.html#exit-code-${code}`),
  ];
  expect(targets.length).toBeGreaterThan(150);
  expect(targets.filter((target) => !leadsSomewhere("index.html", target))).toEqual([]);
});

test("no anchor is on a page twice", () => {
  for (const page of pages()) {
    const ids = [...fileOf(page).matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect([page, ids.filter((id, index) => ids.indexOf(id) !== index)]).toEqual([page, []]);
  }
});

test("each page has one title, and no heading leaves a level out", () => {
  for (const page of pages()) {
    const levels = [
      ...fileOf(page)
        .replace(/<nav[\s\S]*/, "")
        .matchAll(/<h(\d)/g),
    ].map(([, level]) => Number(level));
    expect([page, levels.filter((level) => level === 1).length, levels[0]]).toEqual([page, 1, 1]);
    const jumps = levels.filter((level, index) => index > 0 && level > (levels[index - 1] as number) + 1);
    expect([page, jumps]).toEqual([page, []]);
  }
});

test("both OpenAPI documents are there, call by call", () => {
  expect(fileOf("api.html")).toContain(
    '<h2 id="get-v1relying-partyme"><code>GET /v1/relying-party/me</code>',
  );
  expect(fileOf("api.html")).toMatch(/<code>data\.limits\.per_minute<\/code><\/td><td>integer<\/td>/);
  expect(fileOf("control-api.html")).toContain("<code>POST /__sandbox/keys/{ref}/rotate</code>");
  expect(fileOf("control-api.html")).toMatch(/<code>overlap_minutes<\/code>/);
});
