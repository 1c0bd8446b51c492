import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { parseScenario } from "../../src/index.js";
import { keyStateTable } from "../../src/rules/key-state.js";
import { noBrowser } from "../support/chromium-page.js";
import { mePath } from "../support/send.js";
import {
  clipboard,
  type Dashboard,
  keptOf,
  openDashboard,
  quiet,
  settled,
  viewsOf,
} from "./open-dashboard.js";

const view = "/keys";

/** The status that the API responds to a secret with. */
async function statusWith({ server }: Dashboard, secret: string): Promise<number> {
  return (await fetch(server.url + mePath, { headers: { "x-api-key": secret } })).status;
}

const tracesOf = async (page: Page) => JSON.stringify(await keptOf(page));

/** Fills in the form of a new key; returns the secret that the dialog shows. */
async function createKey(page: Page, name: string, fill: () => Promise<void> = async () => {}) {
  await page.getByRole("button", { name: "Create a key" }).click();
  await page.getByLabel("Name", { exact: true }).fill(name);
  await fill();
  await page.getByRole("button", { name: "Create the key" }).click();
  return secretShown(page);
}

async function secretShown(page: Page): Promise<string> {
  return (await page.locator(".secret .code").textContent()) as string;
}

const rowOf = (page: Page, ref: string) => page.locator(`[data-row="${ref}"]`);

describe.skipIf(noBrowser)("keys and organizations", () => {
  test("R29 R34 a key is created as filled in; its secret works, and stands nowhere once its dialog is closed", async () => {
    const dashboard = await openDashboard({ view });
    const { page, ask, another, go } = dashboard;
    const second = await another();
    const said: string[] = [];
    page.on("request", (request) => said.push(`${request.url()} ${request.postData() ?? ""}`));
    page.on("console", (message) => said.push(message.text()));
    const secret = await createKey(page, "Night batch", async () => {
      await page.getByLabel("Environment").selectOption("live");
      await page.getByLabel("consents:read").check();
      await page.getByLabel("Requests per minute").fill("7");
      await page.getByLabel("Requests per day").fill("70");
      await page.getByLabel("Ends").fill("30d");
    });
    expect(secret).toMatch(/^SVC_live_sbx\w{29}$/);
    expect((await ask("/keys/night-batch")).body.data).toMatchObject({
      organization: "harvest-bank",
      name: "Night batch",
      environment: "live",
      scopes: ["attestations:read", "consents:read"],
      limits: { per_minute: 7, per_day: 70 },
      expires_at: "2026-04-01T09:00:00.000Z",
    });
    expect(await statusWith(dashboard, secret)).toBe(200);
    await page.getByRole("dialog").getByRole("button", { name: "Done" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await rowOf(page, "night-batch").getByText("1 of 7 a minute").waitFor();
    for (const name of await viewsOf(page)) {
      await go(name);
      await quiet(page);
      expect(await tracesOf(page), name).not.toContain(secret);
    }
    await rowOf(second, "night-batch").waitFor();
    expect([await tracesOf(second), ...said].join("\n")).not.toContain(secret);
  });

  test("R34 the secret goes into the clipboard from its dialog, then from its row until a reload; that of another key from its row, also an open one", async () => {
    const { page, server } = await openDashboard({ view });
    const secret = await createKey(page, "Clipboard");
    await page.getByRole("button", { name: "Copy the secret" }).click();
    await expect.poll(() => clipboard(page)).toBe(secret);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.evaluate(() => navigator.clipboard.writeText(""));
    const copy = (ref: string) => page.getByRole("button", { name: `Copy of ${ref}`, exact: true }).click();
    await copy("clipboard");
    await expect.poll(() => clipboard(page)).toBe(secret);
    await page.reload();
    await settled(page);
    await copy("clipboard");
    await rowOf(page, "clipboard").getByRole("alert").waitFor();
    await copy("active");
    await expect.poll(() => clipboard(page)).toBe(server.sandbox.secret("active"));
    await rowOf(page, "live").getByRole("link", { name: "live" }).click();
    await page.getByRole("region", { name: "Key live" }).waitFor();
    expect(await rowOf(page, "live").getByRole("button", { name: "Copy" }).count()).toBe(1);
    await copy("live");
    await expect.poll(() => clipboard(page)).toBe(server.sandbox.secret("live"));
  });

  test("Escape closes a form as Cancel does, and nothing that was entered stays", async () => {
    const { page } = await openDashboard({ view });
    const open = page.getByRole("button", { name: "Create a key" });
    const form = page.getByRole("dialog");
    const name = page.getByLabel("Name", { exact: true });
    const closings = [
      () => page.keyboard.press("Escape"),
      () => page.getByRole("button", { name: "Cancel" }).click(),
    ];
    for (const close of closings) {
      await open.click();
      expect(await name.inputValue()).toBe("");
      await name.fill("Long to write");
      await close();
      await form.waitFor({ state: "detached" });
    }
  });

  test("R29 what is rejected is shown at its own field, which gets the focus", async () => {
    const { page } = await openDashboard({ view });
    await page.getByRole("button", { name: "Create a key" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Wrong");
    await page.getByLabel("Ends").fill("soon");
    await page.getByRole("button", { name: "Create the key" }).click();
    await page.locator("[aria-invalid='true']:focus").waitFor();
    expect(await page.locator(".field", { has: page.locator("[aria-invalid='true']") }).count()).toBe(1);
    await page.getByLabel("Ends").fill("");
    await page.getByLabel("attestations:read").uncheck();
    await page.getByRole("button", { name: "Create the key" }).click();
    await page.locator("dialog .rejection").first().waitFor();
  });

  test("R37 R38 R39 R40 a key is rotated with an overlap of at most seven days; another page sees it", async () => {
    const dashboard = await openDashboard({ view: "/keys/active" });
    const { page, ask, another, server } = dashboard;
    const second = await another();
    const old = server.sandbox.secret("active");
    await page.getByRole("button", { name: "Rotate…" }).click();
    const overlap = page.getByLabel("Overlap");
    await overlap.fill("10081m");
    await overlap.press("Enter");
    await page.getByRole("dialog").getByRole("alert").first().waitFor();
    expect((await ask("/keys/active")).body.data.state).toBe("active");
    await overlap.fill("7d");
    await page.getByRole("button", { name: "Rotate the key" }).click();
    const secret = await secretShown(page);
    expect([await statusWith(dashboard, old), await statusWith(dashboard, secret)]).toEqual([200, 200]);
    expect((await ask("/keys/active")).body.data).toMatchObject({
      state: "retiring",
      overlap_ends_at: "2026-03-09T09:00:00.000Z",
    });
    await rowOf(second, "active").getByText("retiring, ends in 7 d").waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    expect(await tracesOf(second)).not.toContain(secret);
  });

  test("R41 R42 R43 a key gets an end, and is revoked after a question, by keyboard; an ended one has no buttons for it", async () => {
    const dashboard = await openDashboard({ view: "/keys/active" });
    const { page, ask, server } = dashboard;
    const secret = server.sandbox.secret("active");
    await page.getByRole("button", { name: "Set its end…" }).press("Enter");
    await page.getByRole("textbox", { name: "Ends" }).fill("2h");
    await page.getByRole("button", { name: "Set the end" }).press("Enter");
    await rowOf(page, "active").getByText("ends in 2 h").waitFor();
    const revoke = page.getByRole("button", { name: "Revoke…" });
    await revoke.press("Enter");
    await page.getByRole("button", { name: "Cancel" }).press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect((await ask("/keys/active")).body.data.state).toBe("active");
    await revoke.press("Enter");
    await page.getByRole("button", { name: "Revoke the key" }).press("Enter");
    await rowOf(page, "active").getByText("401 unauthorized").waitFor();
    expect(await statusWith(dashboard, secret)).toBe(401);
    expect(await page.getByRole("button", { name: /Revoke|Rotate|Set its end/ }).count()).toBe(0);
  });

  test("R42 a key that is not over has the buttons that change it, in each state", async () => {
    const { page, go } = await openDashboard({ scenario: "key-states", view });
    for (const [state, { isOver }] of Object.entries(keyStateTable)) {
      await go(`keys/${state}`);
      const open = page.getByRole("region", { name: `Key ${state}` });
      await open.getByRole("button", { name: "Send a request" }).waitFor();
      expect([state, await open.getByRole("button", { name: /Revoke|Set its end/ }).count()]).toEqual([
        state,
        isOver ? 0 : 2,
      ]);
      expect([state, await open.getByText("Ended", { exact: true }).count()]).toEqual([
        state,
        isOver ? 1 : 0,
      ]);
      expect([state, await open.getByRole("button", { name: "Rotate…" }).count()]).toEqual([
        state,
        state === "active" ? 1 : 0,
      ]);
    }
  });

  test("each number is its own: of the environments, the minute and the day; of two ends, the first is shown", async () => {
    const scenario = parseScenario(`
version: 1
organizations:
  bank:
    type: bank
    live_access: approved
    keys:
      first: { environment: test, limits: { per_minute: 7, per_day: 80 }, usage: { this_minute: 3, today: 46 }, expires: 119m }
      second: { environment: test }
      third: { environment: test }
      overlaps: { environment: test, state: retiring, replaced_by: second, overlap_ends: 119m, expires: 3h }
      expires: { environment: test, state: retiring, replaced_by: third, overlap_ends: 5h, expires: 4h }
      live: { environment: live }
`);
    const { page } = await openDashboard({ view: "/keys/expires", scenario, now: "2026-03-02T09:00:30Z" });
    const shown = async (ref: string) => (await rowOf(page, ref).innerText()).replaceAll(/\s+/g, " ");
    await page.getByText("3 of 5 test keys, 1 of 5 live keys").waitFor();
    expect(await shown("first")).toContain("ends in 1 h 59 min 3 of 7 a minute, 46 of 80 a day");
    expect(await shown("overlaps")).toContain("retiring, ends in 1 h 59 min");
    expect(await shown("expires")).toContain("retiring, ends in 4 h");
    await page.getByText("2 Mar 2026, 13:00:30 UTC", { exact: true }).waitFor();
  });

  test("an address without its key shows that; one that is further down the list leads to it", async () => {
    const population = { organizations: 100, keys_per_organization: 3 };
    const scenario = { version: 1 as const, organizations: {}, population };
    const { page, go } = await openDashboard({ scenario, view: "/keys/nosuch" });
    const missing = page.getByText("There is no key");
    await missing.getByText("nosuch").waitFor();
    // A name for a request without a key.
    await go("keys/none");
    await missing.getByText("none").waitFor();
    await page.getByRole("link", { name: "Look for it" }).click();
    await page.getByText("No keys match the filter.").waitFor();
    expect(await page.getByRole("link", { name: "Look for it" }).count()).toBe(0);
    await go("keys/organization-99-key-2");
    await page.getByRole("link", { name: "Look for it" }).click();
    await page.getByRole("region", { name: "Key organization-99-key-2" }).waitFor();
    for (const listed of ["", "/", "/..", "/%2e%2E", "/organization-1-key-2"]) {
      await go(`keys${listed}`);
      await rowOf(page, "organization-1-key-2").waitFor();
      expect([listed, await missing.count()]).toEqual([listed, 0]);
    }
  });

  test("a problem without a field in the form is shown below it, also next to one with a field", async () => {
    const { page } = await openDashboard({ view });
    const fields = { name: "name is taken", colour: "colour is unknown" };
    const error = { code: "validation_failed", message: "wrong", details: { fields } };
    await page.route("**/__sandbox/keys", (route) => route.fulfill({ status: 422, json: { error } }));
    await page.getByRole("button", { name: "Create a key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: true }).fill("one");
    await dialog.getByRole("button", { name: "Create the key" }).click();
    await dialog.locator("#field-name-note", { hasText: "Is taken" }).waitFor();
    await dialog.locator("form > .rejection", { hasText: "Is unknown" }).waitFor();
  });

  test("a key is created for an organization that is chosen by its name; the first one is chosen already", async () => {
    const { page, ask } = await openDashboard({ view, scenario: "key-states" });
    await page.getByRole("button", { name: "Create a key" }).click();
    const dialog = page.getByRole("dialog");
    const choice = dialog.getByRole("combobox", { name: "Organization" });
    await expect.poll(() => choice.inputValue()).toBe("harvest-bank");
    await choice.selectOption({ label: "Amberfield Mutual Insurance (amberfield-mutual)" });
    await dialog.getByLabel("Name", { exact: true }).fill("Chosen");
    await dialog.getByRole("button", { name: "Create the key" }).click();
    await page.locator(".secret .code").waitFor();
    expect((await ask("/keys/chosen")).body.data.organization).toBe("amberfield-mutual");
  });

  test("a key is created for an organization that is found by its first letters, or for the first one", async () => {
    const population = { organizations: 2000, keys_per_organization: 2 };
    const organizations = { "without-keys": { type: "bank" as const } };
    const { page, ask } = await openDashboard({ view, scenario: { version: 1, organizations, population } });
    await createKey(page, "First");
    await page.getByRole("button", { name: "Done" }).click();
    await createKey(page, "Last", async () => {
      const field = page.getByRole("dialog").getByLabel("Organization");
      await field.fill("organization-1999");
      await page
        .locator("datalist option", { hasText: /^organization-1999$/ })
        .waitFor({ state: "attached" });
      await field.fill("without");
      await page.locator("datalist option", { hasText: /^without-keys$/ }).waitFor({ state: "attached" });
      await field.fill("organization-1999");
    });
    const ownerOf = async (ref: string) => (await ask(`/keys/${ref}`)).body.data.organization;
    expect([await ownerOf("first"), await ownerOf("last")]).toEqual(["without-keys", "organization-1999"]);
  });

  test("a name that is written from right to left stands right, in each view", async () => {
    const scenario = parseScenario(`
version: 1
name: بنك الحصاد
description: سيناريو عربي
organizations:
  a-bank: { type: bank, name: بنك الحصاد الزراعي, keys: { main: { environment: test, name: المفتاح الرئيسي } } }
story:
  - say: يتصل البنك بالواجهة لأول مرة.
`);
    const { page, go } = await openDashboard({ view: "/keys/main", scenario });
    /** The pixels between a text and the right end of its box. */
    const rightOf = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((box) => {
          const text = document.createRange();
          text.selectNodeContents(box);
          return Math.round(box.getBoundingClientRect().right - text.getBoundingClientRect().right);
        });
    expect(await rightOf("main h2[dir]")).toBe(0);
    expect(await rightOf(".facts dd")).toBe(0);
    await go("story");
    expect([await rightOf(".story-title"), await rightOf(".narration")]).toEqual([0, 0]);
    await page.keyboard.press("Space");
    await page.getByText("Step 1 of 1").waitFor();
    expect(await rightOf(".narration")).toBe(0);
    await go("sandbox");
    const listed = "#section-scenario .list .wide";
    expect([await rightOf(listed), await rightOf(`${listed} p`)]).toEqual([0, 0]);
  });

  test.each([
    [1150, 100],
    [1200, 100],
    [1300, 70],
  ])(
    "at %i pixels no word of a row is broken, a row is at most %i pixels high, and columns align over all organizations",
    async (width, height) => {
      const { page } = await openDashboard({ scenario: "key-states", view });
      await page.setViewportSize({ width, height: 900 });
      const rows = await page.locator("[data-row]").evaluateAll((all) => {
        const words = (row: Element) => {
          const texts = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
          const broken = [];
          for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
            for (const { index, 0: word } of (node.textContent ?? "").matchAll(/[^\s-]+/g)) {
              const range = document.createRange();
              range.setStart(node, index);
              range.setEnd(node, index + word.length);
              if (range.getClientRects().length > 1) broken.push(word);
            }
          }
          return broken;
        };
        return all.map((row) => ({
          broken: words(row),
          height: row.getBoundingClientRect().height,
          columns: [...row.querySelectorAll(":scope > *, :scope > .copy > *")]
            .map((cell) => Math.round(cell.getBoundingClientRect().left))
            .filter((left) => left > 0),
        }));
      });
      expect(rows).toHaveLength(15);
      expect(rows.flatMap(({ broken }) => broken)).toEqual([]);
      expect(Math.max(...rows.map((row) => row.height))).toBeLessThanOrEqual(height);
      expect(new Set(rows.map(({ columns }) => columns.join())).size).toBe(1);
    },
  );

  test.each([1280, 1600])("at %i pixels the usage of a key is one line", async (width) => {
    const { page } = await openDashboard({ scenario: "key-states", view });
    await page.setViewportSize({ width, height: 900 });
    await rowOf(page, "active").waitFor();
    const heights = await page
      .locator("[data-row] > :nth-child(5)")
      .evaluateAll((all) => all.map((usage) => usage.getBoundingClientRect().height));
    expect(heights).toHaveLength(15);
    expect(Math.max(...heights)).toBeLessThan(25);
  });

  test("R18 R20 R30 what an organization may do is changed; another page sees it", async () => {
    const dashboard = await openDashboard({ view });
    const { page, ask, another, server } = dashboard;
    const second = await another();
    const bank = page.getByRole("region", { name: "harvest-bank" });
    const seen = second.getByRole("region", { name: "harvest-bank" });
    const live = server.sandbox.secret("live");
    for (const [label, choice, member, value] of [
      ["Live access", "suspended", "live_access", "suspended"],
      ["Sandbox access", "off", "sandbox_access", false],
      ["Status", "inactive", "status", "inactive"],
    ] as const) {
      await bank.getByLabel(label).selectOption(choice);
      await expect.poll(() => seen.getByLabel(label).inputValue()).toBe(choice);
      expect((await ask("/organizations/harvest-bank")).body.data[member]).toBe(value);
    }
    expect(await statusWith(dashboard, live)).toBe(403);
  });

  test("a key opens in place with all of it, and sends a request", async () => {
    const { page, server } = await openDashboard({ view: "/keys/retiring" });
    const row = rowOf(page, "retiring");
    await row.getByText("retiring, ends in 30 min").waitFor();
    const open = page.getByRole("region", { name: "Key retiring" });
    await open.getByText("2 Mar 2026, 09:30:00 UTC").waitFor();
    await open.getByRole("button", { name: "Send a request" }).click();
    await open.getByText("Result: 200").waitFor();
    await row.getByText("1 of 120 a minute").waitFor();
    expect(server.sandbox.report().requests).toBe(0);
    await open.getByRole("link", { name: "replacement", exact: true }).click();
    await page.getByRole("region", { name: "Key replacement" }).waitFor();
    expect(await page.getByLabel("Filter").inputValue()).toBe("replacement");
  });

  test("a key that is opened below an open one stays in sight", async () => {
    const { page } = await openDashboard({ view: "/keys/active" });
    await page.getByRole("region", { name: "Key active" }).waitFor();
    const row = rowOf(page, "organization-inactive");
    await row.evaluate((element) => element.scrollIntoView({ block: "start" }));
    await row.locator("a").first().click();
    await page.getByRole("region", { name: "Key organization-inactive" }).waitFor();
    await page.getByRole("region", { name: "Key active" }).waitFor({ state: "detached" });
    const { top, bottom } = await row.evaluate((element) => element.getBoundingClientRect());
    const { height = 0 } = page.viewportSize() ?? {};
    expect([top >= 0, bottom <= height]).toEqual([true, true]);
  });

  test("each row shows what the key's next request gets", async () => {
    const { page, ask } = await openDashboard({ view, scenario: "key-states" });
    const verdict = (ref: string) => rowOf(page, ref).locator("strong").first();
    await verdict("active").waitFor();
    for (const [ref, words] of [
      ["active", "200"],
      ["wrong-scope", "403 insufficient_scope: needs attestations:read, has consents:read"],
      ["live-suspended", "403 live_access_not_approved: live access is suspended"],
      ["expired", "401 unauthorized"],
    ] as const) {
      expect(await verdict(ref).textContent()).toBe(words);
    }
    await rowOf(page, "expired").getByText("expired 1 d").waitFor();
    await ask("/organizations/harvest-bank", { method: "PATCH", json: { status: "inactive" } });
    await verdict("active").getByText("403 access_denied: organization is inactive").waitFor();
  });

  test("each key of a large population is found, also by digits alone, and two hundred more are shown on request", async () => {
    const population = { organizations: 2000, keys_per_organization: 2 };
    const scenario = { version: 1 as const, organizations: {}, population };
    const { page, ask } = await openDashboard({ view: "/keys?filter=organization-1900-key-1", scenario });
    await rowOf(page, "organization-1900-key-1").waitFor();
    await page.getByText("1 of 4,000 keys").waitFor();
    await page.getByLabel("Filter").fill("1999");
    await rowOf(page, "organization-1999-key-2").waitFor();
    await page.getByLabel("Filter").fill("");
    await page.getByRole("button", { name: "Show 200 more" }).click();
    await expect.poll(() => page.locator("[data-row]").count()).toBe(400);
    expect((await ask("/directory?limit=50")).body.data.sections).toHaveLength(25);
  });
});
