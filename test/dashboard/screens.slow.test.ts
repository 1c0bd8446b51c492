import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { axeProblems } from "../support/axe.js";
import { noBrowser } from "../support/chromium-page.js";
import { mePath } from "../support/send.js";
import { openDashboard, quiet, settled } from "./open-dashboard.js";
import { screens } from "./screens.js";

/** The elements that stand out of the window or over another one's text. */
function misplaced(): string[] {
  const found = [];
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) {
    found.push(`the page scrolls sideways: ${document.documentElement.scrollWidth} > ${width}`);
  }
  const isShown = (element: Element) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const scrolls = (element: Element | null): boolean =>
    element !== null &&
    (/auto|scroll|hidden|clip/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
  // Behind an open dialog nothing can be pressed.
  const dialog = document.querySelector("dialog[open]");
  const parts = dialog === null ? "main *, header *, nav *" : "dialog[open] *";
  for (const element of document.querySelectorAll(parts)) {
    const { right, left, width: wide } = element.getBoundingClientRect();
    if (wide > 1 && isShown(element) && (right > width + 1 || left < -1) && !scrolls(element.parentElement)) {
      found.push(`stands out of the window: ${element.outerHTML.slice(0, 120)}`);
    }
  }
  // What can be pressed or filled in is not covered by anything else.
  const root = dialog ?? document;
  for (const element of root.querySelectorAll("a, button, input, select, textarea, summary")) {
    if (!isShown(element)) continue;
    element.scrollIntoView({ block: "center", behavior: "instant" });
    const { left, top, width: wide, height } = element.getBoundingClientRect();
    if (wide < 2 || height < 2) continue;
    const over = document.elementFromPoint(left + wide / 2, top + height / 2);
    if (over !== null && !element.contains(over) && !over.contains(element)) {
      found.push(`covered by ${over.outerHTML.slice(0, 80)}: ${element.outerHTML.slice(0, 80)}`);
    }
  }
  return found;
}

/** The columns of text that are narrower than eight letters. */
function narrowTexts(): string[] {
  const texts = [...document.querySelectorAll("main *, header *, nav *, dialog[open] *")].flatMap(
    (element) => {
      const isShown = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
      const text = [...element.childNodes].find(
        (node) => node instanceof Text && node.data.trim().length > 8,
      );
      return text !== undefined && isShown && element.ariaHidden !== "true" ? [{ element, text }] : [];
    },
  );
  return texts.flatMap(({ element, text }) => {
    const range = document.createRange();
    range.selectNodeContents(text);
    const lines = [...range.getClientRects()];
    const widest = Math.max(...lines.map(({ width }) => width));
    const isNarrow = lines.length > 2 && widest < 4 * Number.parseFloat(getComputedStyle(element).fontSize);
    return isNarrow ? [`a column of ${Math.round(widest)} pixels: ${element.outerHTML.slice(0, 120)}`] : [];
  });
}

/** The visible words, and the texts that are cut. */
function wordsAndCuts(): { readonly words: readonly string[]; readonly cut: readonly string[] } {
  const scope = document.querySelector("dialog[open]") ?? document.body;
  const words = new Set<string>();
  const cut = [];
  for (const element of scope.querySelectorAll("*")) {
    const text = [...element.childNodes].filter((node) => node instanceof Text && node.data.trim() !== "");
    if (text.length === 0 || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) {
      continue;
    }
    if (element.closest(".code, select, textarea, .skip-link, .visually-hidden") !== null) continue;
    for (const node of text) words.add((node.textContent ?? "").trim());
    if (element.clientWidth > 1 && element.scrollWidth > element.clientWidth + 1) {
      cut.push(`cut: ${element.outerHTML.slice(0, 120)}`);
    }
  }
  const scrolling = [...scope.querySelectorAll("*")].filter(
    (element) =>
      element.scrollWidth > element.clientWidth + 1 &&
      /auto|scroll/.test(getComputedStyle(element).overflowX) &&
      !element.matches(".code, .code *"),
  );
  return {
    words: [...words].sort(),
    cut: [...cut, ...scrolling.map((element) => `scrolls sideways: ${element.outerHTML.slice(0, 120)}`)],
  };
}

/** Notes what gets the focus, and what has it without showing it. */
function noteFocus(): void {
  const noted = Object.assign(globalThis, { reached: new Set<Element>(), unseen: [] as string[] });
  document.addEventListener("focusin", ({ target }) => {
    const element = target as HTMLElement;
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    const isOutlined = outlineStyle !== "none" && Number.parseFloat(outlineWidth) > 0;
    if (!isOutlined && boxShadow === "none") noted.unseen.push(element.outerHTML.slice(0, 120));
    noted.reached.add(element);
  });
}

/** How much can be pressed or filled in, and what of it has not had the focus. */
function focusResults() {
  const { reached, unseen } = globalThis as unknown as { reached: Set<Element>; unseen: string[] };
  const kinds = "a[href], button, input, select, textarea, summary, [tabindex]";
  const scope = document.querySelector("dialog[open]") ?? document;
  const controls = [...scope.querySelectorAll<HTMLElement>(kinds)].filter(
    (element) =>
      element.tabIndex >= 0 &&
      element.checkVisibility({ visibilityProperty: true }) &&
      !element.matches(":disabled"),
  );
  // Of the choices of one group, one is reached by Tab and the others by arrows.
  const groupOf = (element: HTMLElement) =>
    element instanceof HTMLInputElement && element.type === "radio"
      ? [...document.getElementsByName(element.name)]
      : [element];
  const missed = controls.filter((element) => !groupOf(element).some((one) => reached.has(one)));
  return { count: controls.length, missed: missed.map((element) => element.outerHTML.slice(0, 120)), unseen };
}

async function expectReachedByTab(page: Page): Promise<void> {
  await page.evaluate(noteFocus);
  const { count } = await page.evaluate(focusResults);
  expect(count).toBeGreaterThan(1);
  // Once around, and what the browser has of its own between the last and the first.
  for (let presses = 0; presses < count + 10; presses++) await page.keyboard.press("Tab");
  expect(await page.evaluate(focusResults)).toEqual({ count, missed: [], unseen: [] });
}

/** Of each view, and of each of its pages, the last screen; and every dialog. */
const walked = new Set(new Map(screens.map((one) => [one.act ?? one.view.split("?")[0], one])).values());

describe.skipIf(noBrowser)("each view", () => {
  test.each(screens)(
    "$title: axe finds nothing in light and dark, nothing overlaps, is cut or missing from 360 to 1920 pixels, and every control is reached by Tab, and shows that it has the focus",
    async (screen) => {
      const { view, options, before = [], clients = [], act } = screen;
      const { page, server, ask, go } = await openDashboard({ ...options });
      for (const [method, path, json] of before) await ask(path, { method, json: json ?? {} });
      for (const [key, path = mePath] of clients) {
        await fetch(server.url + path, { headers: { "x-api-key": server.sandbox.secret(key) } });
      }
      await go(view);
      // The page was open before: it may still show what is over, such as the faults of a story.
      await page.reload();
      await settled(page);
      await act?.(page);
      await quiet(page);
      await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await axeProblems(page), `${width} pixels`).toEqual([]);
      }
      await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
      expect(await axeProblems(page, ["color-contrast"])).toEqual([]);
      let everywhere: readonly string[] | undefined;
      for (const width of [360, 390, 480, 600, 768, 900, 1150, 1280, 1440, 1920]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await page.evaluate(misplaced), `${width} pixels`).toEqual([]);
        expect(await page.evaluate(narrowTexts), `${width} pixels`).toEqual([]);
        const { words, cut } = await page.evaluate(wordsAndCuts);
        expect(cut, `${width} pixels`).toEqual([]);
        // An open request is a page of its own where it does not fit next to the list.
        if (!view.startsWith("requests/") && act === undefined) {
          everywhere ??= words;
          expect(words, `${width} pixels`).toEqual(everywhere);
        }
      }
      if (walked.has(screen)) await expectReachedByTab(page);
    },
    // Two hundred keys have a thousand controls, which a busy machine looks at for minutes.
    600_000,
  );
});
