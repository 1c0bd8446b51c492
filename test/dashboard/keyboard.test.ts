import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { noBrowser } from "../support/chromium-page.js";
import { openDashboard, quiet } from "./open-dashboard.js";
import { screens } from "./screens.js";

/** Puts numbers on everything that can be pressed or filled in; returns what it is, by number. */
function numberControls(): string[] {
  const kinds = "a[href], button, input, select, textarea, summary, [tabindex]";
  const scope = document.querySelector("dialog[open]") ?? document;
  const named = new Set<string>();
  const controls = [...scope.querySelectorAll<HTMLElement>(kinds)].filter((element) => {
    if (element.tabIndex < 0 || !element.checkVisibility({ visibilityProperty: true })) return false;
    if (element.matches(":disabled")) return false;
    if (!(element instanceof HTMLInputElement) || element.type !== "radio") return true;
    // Of the choices of one group, one is reached by Tab and the others by arrows.
    if (named.has(element.name)) return false;
    named.add(element.name);
    return true;
  });
  return controls.map((element, index) => {
    element.dataset.number = String(index);
    if (element instanceof HTMLInputElement && element.type === "radio") {
      for (const one of document.getElementsByName(element.name)) one.dataset.number = String(index);
    }
    return element.outerHTML.slice(0, 120);
  });
}

/** The number of what has the focus, and whether that can be seen; the page itself has none. */
function focused(): { number: number | undefined; isSeen: boolean; isEditor: boolean; what: string } {
  const element = document.activeElement as HTMLElement;
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
  // The editor of scenarios has a tree of its own.
  const isEditor = element.shadowRoot !== null;
  const isOutlined = outlineStyle !== "none" && Number.parseFloat(outlineWidth) > 0;
  return {
    number: element.dataset.number === undefined ? undefined : Number(element.dataset.number),
    isSeen: isOutlined || boxShadow !== "none" || element === document.body,
    isEditor,
    what: element.outerHTML.slice(0, 120),
  };
}

async function walk(page: Page) {
  const controls = await page.evaluate(numberControls);
  const reached = new Set<number>();
  const unseen: string[] = [];
  // Once around, and what the browser has of its own between the last and the first.
  for (let presses = 0; presses < controls.length + 10 && reached.size < controls.length; presses++) {
    await page.keyboard.press("Tab");
    const { number, isSeen, isEditor, what } = await page.evaluate(focused);
    if (!isSeen) unseen.push(what);
    if (number !== undefined) reached.add(number);
    // As its help says: Tab after Escape leaves the editor.
    if (isEditor) await page.keyboard.press("Escape");
  }
  return { controls, unseen, missed: controls.filter((_, index) => !reached.has(index)) };
}

/** Of each view, and of each of its pages, the last screen; and every dialog. */
const pages = [...new Map(screens.map((one) => [one.act ?? one.view.split("?")[0], one])).values()];

describe.skipIf(noBrowser)("by keyboard alone", () => {
  test.each(
    pages,
  )("$title: every control is reached by Tab, and shows that it has the focus", async (screen) => {
    const { view, options, before = [], act } = screen;
    const { page, ask, go } = await openDashboard({ ...options });
    for (const [method, path, json] of before) await ask(path, { method, json: json ?? {} });
    await go(view);
    await act?.(page);
    await quiet(page);
    const { controls, missed, unseen } = await walk(page);
    expect(controls.length).toBeGreaterThan(1);
    expect({ missed, unseen }).toEqual({ missed: [], unseen: [] });
  });
});
