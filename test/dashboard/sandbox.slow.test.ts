import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { parseScenario } from "../../src/index.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import type { Ask } from "../control/client.js";
import { noBrowser } from "../support/chromium-page.js";
import { snapshot } from "../support/continued.js";
import { mePath } from "../support/send.js";
import { openDashboard } from "./open-dashboard.js";

const view = "/sandbox";

/** What the server's clock shows. */
const nowOf = async (ask: Ask): Promise<string> => (await ask("/clock")).body.data.now;

/** Waits until a page shows a time of the clock. */
const shows = (page: Page, text: string) => page.locator(".clock").getByText(text).waitFor();

/** A key that expires, one in its overlap, and a step of the timeline between their ends. */
const eventful: Scenario = {
  version: 1,
  clock: { now: "2026-03-02T09:00:00Z", frozen: true },
  organizations: {
    bank: {
      type: "bank",
      keys: {
        steady: { environment: "test" },
        expiring: { environment: "test", expires: "2h" },
        retiring: { environment: "test", state: "retiring", replaced_by: "steady", overlap_ends: "30m" },
      },
    },
  },
  timeline: [{ at: "60m", revoke: { key: "steady" } }],
};

describe.skipIf(noBrowser)("the clock", () => {
  test("is moved by buttons, however fast; another page sees it", async () => {
    const { page, ask, another } = await openDashboard({ view });
    const second = await another();
    for (const name of ["+1 min", "+10 min", "+10 min", "+1 h", "+1 d"]) {
      await page.getByRole("button", { name, exact: true }).click();
    }
    await shows(second, "3 Mar 2026, 10:21:00");
    expect(await nowOf(ask)).toBe("2026-03-03T10:21:00.000Z");
  });

  test("a field moves it by a duration or to a time; what it rejects names both forms", async () => {
    const { page, ask } = await openDashboard({ view });
    const field = page.getByLabel("Move by or to");
    await field.fill("90s");
    await field.press("Enter");
    await shows(page, "09:01:30");
    await field.fill("2026-03-02T10:30:00Z");
    await field.press("Enter");
    await shows(page, "10:30:00");
    await field.fill("tomorrow");
    await field.press("Enter");
    const problem = page.locator(".field .rejection");
    await problem.getByText(/^Enter a duration, such as 90s.*, or a time, such as/).waitFor();
    expect(await nowOf(ask)).toBe("2026-03-02T10:30:00.000Z");
  });

  test("R38 it goes to an event, and the list shows what comes after it", async () => {
    const { page, ask } = await openDashboard({ view, scenario: eventful });
    const events = page.locator("#section-clock .list li");
    await events.nth(4).waitFor();
    expect((await events.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " "))).toEqual([
      expect.stringMatching(/The limits per minute reset.* in 1 min/),
      expect.stringMatching(/Overlap of retiring ends.* in 30 min/),
      expect.stringMatching(/Step 1 of the timeline.* in 1 h/),
      expect.stringMatching(/Key expiring expires.* in 2 h/),
      expect.stringMatching(/The limits per day reset.* in 15 h/),
    ]);
    await page.getByRole("button", { name: /^Go there Overlap of retiring/ }).press("Enter");
    await shows(page, "09:30:00");
    expect((await ask("/keys/retiring")).body.data.state).toBe("rotated");
    await events.filter({ hasText: "Overlap of retiring" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Resume" }).click();
    await page.locator("#section-clock").getByText("running").waitFor();
    expect((await ask("/clock")).body.data.frozen).toBe(false);
  });
});

const faultsOf = async (ask: Ask) => (await ask("/faults")).body.data;

describe.skipIf(noBrowser)("faults and the profile", () => {
  test("each of the seven buttons adds its fault, for every request, or for a key and every nth", async () => {
    const { page, ask } = await openDashboard({ scenario: "key-states", view });
    const buttons = page.locator("#section-faults form .bar button");
    await buttons.nth(6).waitFor();
    for (let index = 0; index < (await buttons.count()); index++) {
      await buttons.nth(index).click();
      await page.locator("#section-faults li").nth(index).getByRole("button", { name: "Turn off" }).waitFor();
    }
    expect((await faultsOf(ask)).map(({ then }: { then: unknown }) => then)).toEqual([
      { latency: "1s" },
      { status: 503 },
      ...["reset", "hang", "truncate", "malformed"].map((effect) => ({ [effect]: true })),
      { slow: 100 },
    ]);
    await page.getByLabel("For key").fill("active");
    await page.getByLabel("For requests").selectOption("3");
    await buttons.nth(1).click();
    await page.getByText("Every 3rd request with the key active: status 503.").waitFor();
    expect((await faultsOf(ask)).at(-1)).toMatchObject({
      when: { key: "active", every: 3 },
      then: { status: 503 },
    });
  });

  test("the field for the key finds each of many; what is no key is rejected", async () => {
    const population = { organizations: 1251, keys_per_organization: 4 };
    const { page, ask } = await openDashboard({
      scenario: { version: 1, organizations: {}, population },
      view,
    });
    const key = page.getByLabel("For key");
    await key.fill("organization-1250");
    await page
      .locator("datalist option", { hasText: /^organization-1250-key-3$/ })
      .waitFor({ state: "attached" });
    await key.fill("organization-1250-key-30");
    const press = () => page.getByRole("button", { name: "Status 503", exact: true }).click();
    await press();
    await page.locator("#section-faults form").getByRole("alert").getByText("There is no key").waitFor();
    expect(await faultsOf(ask)).toEqual([]);
    await key.fill("organization-1250-key-3");
    await press();
    await page.getByText("Every request with the key organization-1250-key-3: status 503.").waitFor();
  });

  test("a secret in the field for the key goes into no address", async () => {
    const { page, server } = await openDashboard({ scenario: "key-states", view });
    const asked: string[] = [];
    page.on("request", (request) => asked.push(decodeURIComponent(request.url())));
    const secret = server.sandbox.secret("active");
    await page.getByLabel("For key").fill(secret);
    await page.getByLabel("For key").fill("activ");
    await expect.poll(() => asked.join()).toContain("filter=activ&");
    expect(asked.join()).not.toContain(secret);
  });

  test("the words of a fault have its numbers", async () => {
    const { page, ask } = await openDashboard({ scenario: "key-states", view });
    const faults = [
      { when: { every: 2 }, then: { status: 502 } },
      { when: { probability: 0.2 }, then: { latency: "3s" } },
      { when: { key: "legacy" }, then: { latency: { median: "200ms", p99: "2s" } } },
      { when: { key: "active" }, then: { latency: { min: "200ms", max: "2s" } } },
      { when: { probability: 0.125, key: "live", every: 3 }, then: { slow: 40 } },
    ];
    await ask("/faults", { method: "PUT", json: { faults } });
    for (const words of [
      "Every 2nd request: status 502.",
      "With a probability of 20%, every request: 3s late.",
      "Every request with the key legacy: about 200ms, rarely 2s late.",
      "Every request with the key active: 200ms to 2s late.",
      "With a probability of 12.5%, every 3rd request with the key live: 40 bytes a second.",
    ]) {
      await page.locator("#section-faults li").getByText(words, { exact: true }).waitFor();
    }
  });

  test("a fault that hits some requests shows live how many matched", async () => {
    const { page, server, ask } = await openDashboard({ scenario: "key-states", view });
    const third = { when: { key: "active", every: 3 }, then: { status: 503 } };
    await ask("/faults", { method: "PUT", json: { faults: [{ then: { slow: 100_000 } }, third] } });
    const headers = { "x-api-key": server.sandbox.secret("live") };
    await fetch(server.url + mePath, { headers });
    await page.getByText("0 requests matched.").waitFor();
  });

  test("a row turns its fault off, and the header all of them", async () => {
    const { page, ask } = await openDashboard({ scenario: "key-states", view });
    const effects = async () =>
      (await faultsOf(ask)).map(({ then }: { then: object }) => Object.keys(then)[0]);
    const faults = [{ then: { slow: 100 } }, { then: { latency: "1ms" } }, { then: { reset: true } }];
    await ask("/faults", { method: "PUT", json: { faults } });
    await page.getByRole("button", { name: /the fault: .*1ms late/ }).click();
    await expect.poll(effects).toEqual(["slow", "reset"]);
    await page.getByRole("banner").getByRole("button", { name: "Turn off" }).click();
    await expect.poll(effects).toEqual([]);
  });

  test("Enter in a field adds no fault, because no effect is chosen", async () => {
    const { page, ask } = await openDashboard({ scenario: "key-states", view });
    await page.getByLabel("For key").fill("active");
    await page.getByLabel("For key").press("Enter");
    await page.getByRole("button", { name: "Status 503", exact: true }).click();
    await page.getByText("Every request with the key active: status 503.").waitFor();
    expect(await faultsOf(ask)).toHaveLength(1);
  });

  test("of two equal faults, a row turns off one", async () => {
    const { page, ask } = await openDashboard({ scenario: "key-states", view });
    const faults = [{ then: { slow: 100 } }, { then: { reset: true } }, { then: { slow: 100 } }];
    await ask("/faults", { method: "PUT", json: { faults } });
    const buttons = page.getByRole("button", { name: /the fault: / });
    await buttons.nth(2).click();
    await page.getByRole("banner").getByRole("link", { name: "2 faults active" }).waitFor();
    expect((await faultsOf(ask)).map(({ then }: { then: object }) => Object.keys(then)[0]).sort()).toEqual([
      "reset",
      "slow",
    ]);
    await expect.poll(() => buttons.count()).toBe(2);
  });

  test("the profile is named, and what the scenario sets apart from it", async () => {
    const assumptions = { profile: "typical", retry_after: "date" } as const;
    const scenario = { version: 1, population: { organizations: 1 }, assumptions } as const;
    const { page } = await openDashboard({ scenario, view });
    await page.getByText("typical: what good gateways do").waitFor();
    await page.getByText("Set apart from the profile: retry_after").waitFor();
  });
});

const written = `# A scenario of the test
version: 1
name: Written by hand
organizations:
  village-bank:
    type: bank
    keys:
      main: { environment: test }
`;

const textOf = (page: Page) => page.locator(".yaml pre");
const choose = (page: Page, content: string | Buffer) =>
  page.getByLabel("Scenario file").setInputFiles({
    name: "mine.yaml",
    mimeType: "application/yaml",
    buffer: Buffer.from(content as string),
  });

async function load(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: `Load ${name}`, exact: true }).click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: `Load ${name}` })
    .click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

describe.skipIf(noBrowser)("the scenario", () => {
  test("is shown as it was written, and saved", async () => {
    const { page } = await openDashboard({ scenario: "rotation", view });
    const file = readFileSync("scenarios/rotation.yaml", "utf8");
    await expect.poll(() => textOf(page).textContent()).toBe(file);
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).press("Enter");
    expect((await saved).suggestedFilename()).toBe("rotation.yaml");
    expect(readFileSync(await (await saved).path(), "utf8")).toBe(file);
  });

  test("is replaced by a bundled one after a question, and by the own one of the start again", async () => {
    const { page, ask } = await openDashboard({ scenario: parseScenario(written), view });
    const text = (await ask("/scenario")).text;
    await page.getByRole("button", { name: "Load revoked" }).click();
    await page.getByText("This discards the requests, new keys, and every other change").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    expect((await ask("/health")).body.scenario).toBe("Written by hand");
    await load(page, "revoked");
    await page.locator(".running a", { hasText: "revoked" }).waitFor();
    await load(page, "Written by hand");
    await expect.poll(async () => (await ask("/scenario")).text).toBe(text);
  });

  test("a file that the browser cannot read is rejected, and the page goes on", async () => {
    const { page } = await openDashboard({ view });
    await page.evaluate(() => {
      File.prototype.arrayBuffer = () => Promise.reject(new DOMException("no permission"));
    });
    await choose(page, written);
    await page.getByText("This file cannot be read.").waitFor();
  });

  test("a file is checked before it replaces anything; its problems have their lines", async () => {
    const { page, server, ask } = await openDashboard({ view });
    const before = snapshot(server.sandbox);
    await choose(page, written.replace("type: bank", "type: bnk"));
    await page.getByRole("alert").filter({ hasText: "1 problem found." }).waitFor();
    await page.getByText(/bnk.*did you mean bank/).waitFor();
    await page.getByText("6:11 type: bnk").waitFor();
    expect(await page.getByRole("button", { name: "Load mine.yaml" }).count()).toBe(0);
    expect(snapshot(server.sandbox)).toEqual(before);
    await choose(page, written);
    await page.getByText("No problems found.").waitFor();
    await load(page, "mine.yaml");
    await page.locator(".running a", { hasText: "Written by hand" }).waitFor();
    expect((await ask("/scenario")).text).toBe(written);
    await page.getByRole("button", { name: "Load expired" }).click();
    await page.getByText("is in no list: download it first").waitFor();
  });

  test.each(["utf16le", "latin1"] as const)(
    "a file in %s is refused, by the page and by the control plane",
    async (encoding) => {
      const { page, ask } = await openDashboard({ view });
      const content = Buffer.from(`\ufeff${written.replace("hand", "händ")}`, encoding);
      await choose(page, content);
      await page.getByRole("alert").waitFor();
      expect(await page.getByRole("button", { name: "Load mine.yaml" }).count()).toBe(0);
      const headers = { "content-type": "application/yaml" };
      const { status } = await ask("/scenario", { method: "PUT", bytes: content, headers });
      expect(status).toBe(422);
    },
  );

  test.each([390, 1280, 1600])(
    "at %i pixels the file is chosen below the text that says so, in a field with a label",
    async (width) => {
      const { page } = await openDashboard({ view });
      await page.setViewportSize({ width, height: 900 });
      const text = page.locator("#section-scenario p", { hasText: "To change it" });
      await text.waitFor();
      const { y = 0, height = 0, x } = (await text.boundingBox()) ?? {};
      const field = await page.locator("label", { hasText: "Scenario file" }).boundingBox();
      expect(field?.x).toBe(x);
      expect((field?.y ?? 0) - (y + height)).toBeLessThan(20);
      await choose(page, written.replace("type: bank", "type: bnk"));
      await page.getByRole("alert").filter({ hasText: "choose the file again" }).waitFor();
      await choose(page, written);
      await page.getByText("No problems found.").waitFor();
    },
  );

  test("that is started elsewhere is shown, and the keys that it pins are hidden", async () => {
    const secret = `SVC_test_sbx${"a1B2".repeat(8)}`;
    const { page, ask, heard } = await openDashboard({ view });
    await choose(page, written.replace("environment: test", `environment: test, secret: ${secret}`));
    await load(page, "mine.yaml");
    await expect.poll(() => textOf(page).textContent()).toContain("SVC_test_…");
    await page.getByText("Pinned keys are hidden.").waitFor();
    await ask("/scenario");
    expect(heard.join()).not.toContain(secret);
    await ask("/scenario", { method: "PUT", json: { name: "rotation" } });
    await expect.poll(() => textOf(page).textContent()).toContain("start rotation");
  });
});
