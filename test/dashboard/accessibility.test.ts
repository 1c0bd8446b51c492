import { describe, expect, test } from "vitest";
import { axeProblems } from "../support/axe.js";
import { noBrowser } from "../support/chromium-page.js";
import { mePath } from "../support/send.js";
import { openDashboard } from "./open-dashboard.js";
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

describe.skipIf(noBrowser)("each view", () => {
  for (const { title, view, options, before = [], clients = [], act } of screens) {
    test(`${title}: axe finds nothing in light and dark, and nothing overlaps from 360 to 1920 pixels`, async () => {
      const { page, server, ask, go } = await openDashboard({ ...options });
      for (const [method, path, json] of before) await ask(path, { method, json: json ?? {} });
      for (const [key, path = mePath] of clients) {
        await fetch(server.url + path, { headers: { "x-api-key": server.sandbox.secret(key) } });
      }
      await go(view);
      await expect.poll(() => page.getByText("Reading…").count()).toBe(0);
      await act?.(page);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        expect(await axeProblems(page), colorScheme).toEqual([]);
      }
      for (const width of [360, 768, 1280, 1920]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await page.evaluate(misplaced), `${width} pixels`).toEqual([]);
      }
    });
  }
});
