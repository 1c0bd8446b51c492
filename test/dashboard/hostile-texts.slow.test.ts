import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { noBrowser } from "../support/chromium-page.js";
import { exchange } from "../support/exchange.js";
import { pageOf } from "../support/pages.js";
import { type Dashboard, openDashboard, quiet, viewsOf } from "./open-dashboard.js";

// What a client or a scenario says is shown as it is said, and does nothing.

const hostileTexts: readonly string[] = [
  ...(parse(pageOf("test/cases/hostile-texts.yaml")) as string[]),
  // As long as a text can be that reaches the page; one word, so that no line ends by itself.
  "W".repeat(100_000),
];

const refs = (kind: string) => hostileTexts.map((text, index) => [`${kind}-${index + 1}`, text] as const);

/** A sandbox in which everything that can have a name has one of the texts. */
const sandbox = {
  version: 1 as const,
  name: cut(hostileTexts[0] as string),
  description: hostileTexts.map((text) => text.slice(0, 25)).join(" "),
  clock: { now: "2026-03-02T09:00:00Z" },
  organizations: Object.fromEntries(
    refs("org").map(([ref, text]) => [
      ref,
      {
        type: "bank" as const,
        name: cut(text),
        keys: {
          [ref.replace("org", "key")]: { environment: "test" as const, name: cut(text), expires: "90m" },
        },
      },
    ]),
  ),
  story: refs("key").flatMap(([key, text]) => [
    { say: text.slice(0, 2000) },
    {
      request: { key, path: pathOf(text, 1000), headers: { "X-Hostile": headerOf(text) }, body: { text } },
      expect: { code: text },
    },
  ]),
};

/** As long as a name may be, on one line, and never cut within a character. */
function cut(text: string): string {
  return [...text.replace(/[\r\n]+/g, " ")].slice(0, 100).join("");
}

/** The text as the path of a request: what HTTP lets through stays as it is. */
function pathOf(text: string, max: number): string {
  return `/${text.replace(/[^!-~]/gu, encodeURIComponent)}`.slice(0, max).replace(/%.?$/, "");
}

function headerOf(text: string): string {
  return text.replace(/[^\t\x20-\x7e\x80-\xff]/gu, "?").slice(0, 4000);
}

/** What a page has that only a text taken for markup could have made. */
function foreignElements(): string[] {
  const found = [];
  // biome-ignore lint/suspicious/noExplicitAny: a global that only a hostile text would set
  if ((globalThis as any).stolen !== undefined) found.push("a text has run");
  const foreign =
    "iframe, object, embed, base, meta[http-equiv], body style, body script, body link, img, video";
  for (const element of document.querySelectorAll(foreign)) found.push(element.outerHTML.slice(0, 200));
  for (const element of document.querySelectorAll("*")) {
    for (const { name, value } of element.attributes) {
      const runs = name.startsWith("on") || name === "srcdoc";
      const isDocs = /^https:\/\/github\.com\/svc-sandbox\/svc-sandbox\/blob\/[\w.-]+\/docs\/[\w.#-]+$/.test(
        value,
      );
      const isOwn = isDocs || /^(?:#|\.\/|blob:)/.test(value) || value.startsWith(`${location.origin}/`);
      const leads = /^(?:href|src|action|data)$/.test(name) && !isOwn;
      if (runs || leads) found.push(`${name} of ${element.outerHTML.slice(0, 200)}`);
    }
  }
  return found;
}

/** What texts do to those around them: the page wider than its window, or other texts written the other way round. */
function disorder(): string[] {
  const found = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push(`the page scrolls sideways: ${scrollWidth} > ${clientWidth}`);
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const element = node.parentElement as HTMLElement;
    if (!/[\u202a-\u202e\u2066-\u2069]/.test(node.nodeValue ?? "")) continue;
    if (element.closest("bdi, pre, textarea, option, title") !== null) continue;
    const isAlone = element.textContent === node.nodeValue;
    if (!isAlone || getComputedStyle(element).display.startsWith("inline")) {
      found.push(`turns the writing: ${element.outerHTML.slice(0, 200)}`);
    }
  }
  return found;
}

const harm = async (page: Page) =>
  (await Promise.all([page.evaluate(foreignElements), page.evaluate(disorder)])).flat();

/** Looks at the view that is shown, on a phone and on a desk; returns its text. */
async function look(page: Page, title: string): Promise<string> {
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    expect(await harm(page), `${title}, ${width} pixels`).toEqual([]);
  }
  return page.locator("body").evaluate((body) => body.textContent ?? "");
}

/** Opens a page on a sandbox of hostile texts, with requests of hostile clients. */
async function openHostile(): Promise<Dashboard> {
  const dashboard = await openDashboard({ scenario: sandbox });
  const { server, page } = dashboard;
  page.on("dialog", (dialog) => {
    void dialog.dismiss();
    throw new Error(`a dialog: ${dialog.message()}`);
  });
  for (const text of hostileTexts) {
    const headers = {
      "x-api-key": headerOf(text).replace(/\t/g, " "),
      "user-agent": headerOf(text).replace(/\t/g, " "),
      "x-hostile": headerOf(text).replace(/\t/g, " "),
    };
    await exchange(server.url, { path: pathOf(text, 8000), headers });
  }
  return dashboard;
}

describe.skipIf(noBrowser)("hostile texts", () => {
  test("as names, requests, headers, narration and purposes they are shown as text in every view", async () => {
    const { page, go, ask, server } = await openHostile();
    let shown = "";
    const origin = `${server.controlUrl}/`;
    for (const view of await viewsOf(page)) {
      await go(view);
      await quiet(page);
      shown += await look(page, view);
      expect(page.url().split("#")[0]).toBe(origin);
    }
    for (const step of sandbox.story.keys()) {
      await ask("/story/next", { method: "POST", json: {} });
      if (step % 32 > 1) continue;
      // Opened anew, a view shows what is true now.
      await go("overview");
      await go("story");
      await quiet(page);
      await look(page, `step ${step + 1} of the story`);
    }
    const { data: requests } = (await ask("/requests")).body;
    const details = [
      ...requests
        .slice(-hostileTexts.length)
        .map(({ id }: { id: string }) => `requests/${encodeURIComponent(id)}`),
      ...refs("key").map(([ref]) => `keys/${ref}`),
    ];
    for (const view of details.filter((_, index) => index % 8 === 0)) {
      await go(view);
      await quiet(page);
      shown += await page.locator("body").evaluate((body) => body.textContent ?? "");
      expect(await harm(page), view).toEqual([]);
    }
    const missing = hostileTexts.filter((text) => !shown.includes(text.slice(0, 10)));
    expect(missing).toEqual([]);
  });

  test("in the address they find nothing, and do nothing", async () => {
    const { page, server } = await openDashboard({ scenario: "announced-endpoints" });
    const views = await viewsOf(page);
    for (const [index, text] of hostileTexts.entries()) {
      const view = views[index % views.length];
      const encoded = encodeURIComponent(text);
      const forms = [`/${view}/${encoded}`, text, `/${encoded}`, `/${view}?${encoded}=1&key=${encoded}`];
      const fragment = forms[index % forms.length] as string;
      await page.evaluate((to) => {
        location.hash = to;
        return new Promise((resolve) => requestAnimationFrame(resolve));
      }, fragment);
      expect(await harm(page), fragment.slice(0, 100)).toEqual([]);
      expect(page.url().split("#")[0]).toBe(`${server.controlUrl}/`);
    }
  });
});
