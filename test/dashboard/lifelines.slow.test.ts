import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { parseScenario } from "../../src/index.js";
import { serveControl } from "../control/client.js";
import { noBrowser } from "../support/chromium-page.js";
import { noFirefox, takeFirefoxPage } from "../support/firefox-page.js";
import { hashOf, openDashboard, quiet, settled } from "./open-dashboard.js";

const lifelines = (page: Page) => page.locator(".lifelines");

const lineOf = (page: Page, ref: string) =>
  lifelines(page)
    .getByRole("listitem")
    .filter({ has: page.getByRole("link", { name: ref, exact: true }) });

/** What is drawn of a key, from left to right. */
const drawn = async (page: Page, ref: string) => {
  const phases = lineOf(page, ref).locator(".phase");
  return phases.evaluateAll((all) => all.map((phase) => phase.className.split(" ")[1]));
};

/** Where an element's middle is, in pixels. */
async function middleOf(page: Page, selector: string): Promise<number> {
  const { x = Number.NaN, width = 0 } = (await lifelines(page).locator(selector).first().boundingBox()) ?? {};
  return x + width / 2;
}

describe.skipIf(noBrowser)("the lifelines", () => {
  test("each key has its line, and a dot for what it sent; an event moves the clock, where the picture shows what it changed", async () => {
    const { page, sandbox, send } = await openDashboard({ scenario: "key-states", view: "/keys" });
    await send("retiring", "rate-limited-minute", "retiring");
    await lineOf(page, "retiring").getByText(", 2 requests").waitFor({ state: "attached" });
    expect(await drawn(page, "active")).toEqual(["past", "works"]);
    expect(await drawn(page, "expired")).toEqual(["ended", "ended"]);
    expect(await drawn(page, "wrong-scope")).toEqual(["past", "rejected"]);
    expect(await drawn(page, "retiring")).toEqual(["past", "retiring", "ended"]);
    expect(await drawn(page, "rate-limited-minute")).toEqual(["past", "limited", "works"]);
    const dots = lineOf(page, "retiring").locator(".dot");
    expect(await dots.evaluateAll((all) => all.map((dot) => dot.getAttribute("title")))).toEqual([
      "2 requests: 200.retiring",
    ]);
    const before = await middleOf(page, ".now");
    const station = lifelines(page).getByRole("button", { name: "09:30 Go there: Overlap of retiring ends" });
    await station.press("Enter");
    await expect.poll(() => drawn(page, "retiring")).toEqual(["past", "ended"]);
    expect(new Date(sandbox.clock.now()).toISOString()).toBe("2026-03-02T09:30:00.000Z");
    await expect.poll(() => drawn(page, "rate-limited-minute")).toEqual(["past", "works"]);
    await expect.poll(() => middleOf(page, ".now")).toBeGreaterThan(before + 50);
    expect(await station.count()).toBe(0);
  });

  test("a key opens in the list, which keeps its filter; the picture has only what the filter leaves", async () => {
    const { page } = await openDashboard({ scenario: "key-states", view: "/keys?filter=amberfield" });
    expect(await lifelines(page).getByRole("link").allInnerTexts()).toEqual([
      "rotated",
      "↳ retiring",
      "↳ replacement",
      "wrong-scope",
    ]);
    await lifelines(page).getByRole("link", { name: "replacement" }).press("Enter");
    await page.getByRole("region", { name: "Key replacement" }).waitFor();
    expect(hashOf(page)).toBe("#/keys/replacement?filter=amberfield");
  });

  test("what is read late moves nothing below", async () => {
    const { page } = await openDashboard({ scenario: "key-states", view: "/keys" });
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/sandbox.upcoming/, (route) => released.then(() => route.continue()));
    await page.reload();
    const list = page.getByRole("list", { name: "Keys of harvest-bank" });
    await list.waitFor();
    const before = (await list.boundingBox())?.y;
    release();
    await settled(page);
    await lifelines(page).locator(".now").waitFor();
    expect((await list.boundingBox())?.y).toBe(before);
  });

  test("of more than twenty keys, those used last are drawn", async () => {
    const scenario = parseScenario(
      "version: 1\npopulation: { organizations: 9, keys_per_organization: 5 }\n",
    );
    const { page, send } = await openDashboard({ scenario, view: "/keys" });
    const names = lifelines(page).getByRole("link");
    await expect.poll(() => names.count()).toBe(20);
    expect(await names.filter({ hasText: "organization-9-key-5" }).count()).toBe(0);
    await lifelines(page).getByText("Only 20 keys are drawn").waitFor();
    await send("organization-9-key-5");
    await names.filter({ hasText: "organization-9-key-5" }).waitFor();
    expect(await names.count()).toBe(20);
  });

  test("a fault that hits some requests leaves no bar its color, and says so", async () => {
    const { page, ask } = await openDashboard({ scenario: "key-states", view: "/keys" });
    const faults = [{ when: { key: "active", probability: 0.3 }, then: { status: 503 } }];
    await ask("/faults", { method: "PUT", json: { faults } });
    await expect.poll(() => drawn(page, "active")).toEqual(["past", "unknown"]);
    await lineOf(page, "active").getByText("200 (some get a fault)").first().waitFor();
    expect(await drawn(page, "legacy")).toEqual(["past", "works"]);
  });

  test("shows what faults will do, and what is not sure: a step of the timeline is still to run", async () => {
    const scenario = parseScenario(`
version: 1
clock: { now: 2026-03-02T09:00:00Z }
organizations: { bank: { type: bank, live_access: approved, keys: { one: { environment: test }, live: { environment: live } } } }
faults:
  - { when: { every: 2, until: 10m }, then: { status: 503 } }
timeline:
  - { at: 20m, revoke: { key: live } }
`);
    const { page } = await openDashboard({ scenario, view: "/keys" });
    await expect.poll(() => drawn(page, "live")).toEqual(["unknown", "works", "unknown"]);
    expect(await drawn(page, "one")).toEqual(["unknown", "works"]);
    await lineOf(page, "live").getByText("200 (some get a fault)").first().waitFor();
    await lineOf(page, "one").getByText("from 2 Mar 2026, 09:10:00").waitFor({ state: "attached" });
    await lineOf(page, "live").getByText("from 2 Mar 2026, 09:20:00").waitFor({ state: "attached" });
    const dashed = lineOf(page, "live").locator(".phase.unknown").first();
    expect(await dashed.evaluate((bar) => getComputedStyle(bar).borderStyle)).toBe("dashed");
    await lifelines(page).getByText("dashed: not sure. Not to scale.").waitFor();
  });

  test("of more than six times, those left out are counted; Enter on one leaves the focus at the lifelines", async () => {
    const steps = [5, 10, 15, 20, 25, 30, 35, 40].map((at) => `  - { at: ${at}m, revoke: { key: k${at} } }`);
    const keys = [5, 10, 15, 20, 25, 30, 35, 40].map((at) => `    k${at}: { environment: test }`);
    const scenario = parseScenario(`version: 1
clock: { now: 2026-03-02T09:00:00Z }
organizations:
  one: { type: bank, keys: { ${keys.slice(0, 4).join(",").replaceAll("    ", "")} } }
  two: { type: bank, keys: { ${keys.slice(4).join(",").replaceAll("    ", "")} } }
timeline:
${steps.join("\n")}
`);
    const { page } = await openDashboard({ scenario, view: "/keys" });
    const stations = lifelines(page).getByRole("list", { name: "Events" });
    await stations.getByText("step +4").waitFor();
    await stations.getByRole("button", { name: "09:10 Go there" }).press("Enter");
    await page.locator(".lifelines:focus").waitFor();
    await stations.getByText("step +2").waitFor();
  });

  test("the story of a large population has its lines", async () => {
    const scenario = parseScenario(`version: 1
population: { organizations: 90, keys_per_organization: 5 }
story:
  - request: { key: organization-80-key-3 }
`);
    const context = { viewport: { width: 1280, height: 900 } };
    const { page } = await openDashboard({ scenario, view: "/story", context });
    await lifelines(page).getByRole("link", { name: "organization-80-key-3" }).waitFor();
  });

  test("readers with their own colors tell bars apart by their patterns", async () => {
    const { page } = await openDashboard({
      scenario: "key-states",
      view: "/keys",
      context: { forcedColors: "active" },
    });
    const pattern = (course: string) =>
      lifelines(page)
        .locator(`.phase.${course}`)
        .first()
        .evaluate((bar) => {
          const { backgroundColor, backgroundImage, borderStyle, height } = getComputedStyle(bar);
          return [backgroundColor, backgroundImage, borderStyle, height].join(" ");
        });
    const courses = ["past", "works", "retiring", "limited", "rejected", "ended"];
    const patterns = new Set<string>();
    for (const course of courses) patterns.add(await pattern(course));
    expect(patterns.size).toBe(courses.length);
  });

  test("the story has the keys that it uses, each from when it was created, and only its steps move the clock", async () => {
    const { page, ask } = await openDashboard({ scenario: "rotation", view: "/story" });
    const tell = async (steps: number) => {
      for (let step = 0; step < steps; step++) await ask("/story/next", { method: "POST", json: {} });
    };
    await lifelines(page).waitFor();
    expect(await lifelines(page).getByRole("link").allInnerTexts()).toEqual(["retiring", "↳ replacement"]);
    await tell(5);
    await expect.poll(() => drawn(page, "retiring")).toEqual(["past", "ended"]);
    const before = await lifelines(page).boundingBox();
    await tell(5);
    await expect.poll(() => drawn(page, "third-key")).toEqual(["works"]);
    expect(await drawn(page, "replacement")).toEqual(["past", "retiring", "ended"]);
    await tell(1);
    await page.getByText("Step 11 of").waitFor();
    await quiet(page);
    const after = await lifelines(page).boundingBox();
    const bottom = (box: typeof before) => (box?.y ?? 0) + (box?.height ?? 0);
    expect(bottom(after)).toBe(bottom(before));
    expect(await lifelines(page).getByRole("button").count()).toBe(0);
    await tell(4);
    await expect.poll(() => drawn(page, "third-key")).toEqual(["past", "works"]);
    const startOf = async (ref: string) =>
      (await lineOf(page, ref).locator(".phase.past").boundingBox())?.x ?? 0;
    expect(await startOf("third-key")).toBeGreaterThan((await startOf("replacement")) + 50);
  });

  test("the story leaves a low window to its step; and L shows and hides the lifelines", async () => {
    const { page } = await openDashboard({
      scenario: "rotation",
      view: "/story",
      context: { viewport: { width: 1280, height: 720 } },
    });
    await page.getByText("L shows and hides the lifelines").waitFor();
    const picture = page.locator(".lifelines-picture");
    expect(await picture.count()).toBe(0);
    expect((await lifelines(page).boundingBox())?.height).toBeLessThan(60);
    await page.keyboard.press("l");
    await picture.waitFor();
    await lifelines(page).locator("summary").press("Enter");
    await picture.waitFor({ state: "detached" });
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.reload();
    await picture.waitFor();
  });
});

describe.skipIf(noFirefox)("in Firefox, the lifelines", () => {
  test("have their bars, ends and dots at the same places", async () => {
    const { server, ask } = await serveControl({ scenario: "key-states" });
    const body = { key: "retiring" };
    await ask("/send", { method: "POST", json: body });
    const { goto, run } = await takeFirefoxPage(1280, 900);
    await goto(`${server.controlUrl}/#/keys`);
    const readPlaces = () => run<Readonly<Record<string, readonly number[]>>>(placesInLine);
    await expect.poll(readPlaces).toHaveProperty("dot");
    const { now = [], past = [], retiring = [], end = [], ended = [], dot = [] } = await readPlaces();
    // Now is a line in the middle of its words.
    const at = ((now[0] as number) + (now[1] as number)) / 2;
    expect(past).toEqual([0, expect.closeTo(at, -1), 3]);
    expect(retiring).toEqual([expect.closeTo(at, -1), expect.closeTo(end[0] as number, -1), 14]);
    expect(ended).toEqual([expect.closeTo(end[0] as number, -1), 1000, 14]);
    expect((dot[0] as number) + (dot[1] as number)).toBeCloseTo(2 * at, -1);
    expect(end[0]).toBeGreaterThan(at + 100);
  });
});

/** Of what is drawn of the key `retiring`: the left and right sides, in thousandths of the line, and the height in pixels. */
const placesInLine = `
  const places = {};
  const link = document.querySelector('.lifelines a[href$="/retiring"]');
  const line = link?.parentElement.querySelector(".lifeline");
  if (!line) return places;
  const { left: start, width: whole } = line.getBoundingClientRect();
  for (const element of [document.querySelector(".now"), ...line.children]) {
    const { left, right, height } = element.getBoundingClientRect();
    const name = element.className.replace(/phase | tone.*/g, "");
    places[name] = [left, right].map((side) => Math.round(((side - start) / whole) * 1000)).concat(height);
  }
  return places;
`;
