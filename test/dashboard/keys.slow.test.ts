import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { noBrowser } from "../support/chromium-page.js";
import { type Dashboard, keptOf, openDashboard, quiet, viewsOf } from "./open-dashboard.js";

const view = "/keys";

/** The status that the API responds to a secret with. */
async function statusWith({ server }: Dashboard, secret: string): Promise<number> {
  return (await fetch(`${server.url}/v1/relying-party/me`, { headers: { "x-api-key": secret } })).status;
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
  return (await page.locator(".secret-text").textContent()) as string;
}

const rowOf = (page: Page, ref: string) => page.locator(`tr[data-row="${ref}"]`);

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
      await page.getByLabel("Scopes").fill("attestations:read, consents:read");
      await page.getByLabel("Per minute").fill("7");
      await page.getByLabel("Per day").fill("70");
      await page.getByLabel("Expires").fill("30d");
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
    expect(await tracesOf(page)).toContain(secret);
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await rowOf(page, "night-batch").getByText("1/7").waitFor();
    expect(await tracesOf(page)).not.toContain(secret);
    for (const one of await viewsOf(page)) {
      await go(one);
      await quiet(page);
      expect(await tracesOf(page), one).not.toContain(secret);
    }
    await page.reload();
    await quiet(page);
    expect(await tracesOf(page)).not.toContain(secret);
    await rowOf(second, "night-batch").waitFor();
    expect([await tracesOf(second), ...said].join("\n")).not.toContain(secret);
  });

  test("R34 the secret goes into the clipboard from its dialog, then from the header until a reload, which asks before it was copied", async () => {
    const context = { permissions: ["clipboard-read", "clipboard-write"] };
    const { page } = await openDashboard({ view, context });
    const asks = () => page.evaluate(() => !dispatchEvent(new Event("beforeunload", { cancelable: true })));
    const secret = await createKey(page, "Clipboard");
    expect(await asks()).toBe(true);
    await page.getByRole("button", { name: "Copy the secret" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect([await page.evaluate(() => navigator.clipboard.readText()), await asks()]).toEqual([
      secret,
      false,
    ]);
    // Not for a moment does a closed dialog keep it.
    await page.getByRole("dialog").evaluate((dialog) => {
      const keep = () => sessionStorage.setItem("left", document.body.outerHTML);
      dialog.addEventListener("close", keep, { capture: true });
    });
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => sessionStorage.getItem("left") !== null);
    expect(await tracesOf(page)).not.toContain(secret);
    await page.evaluate(() => navigator.clipboard.writeText(""));
    const copy = page.getByRole("button", { name: "Copy key clipboard" });
    await copy.click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
    await page.reload();
    await rowOf(page, "clipboard").waitFor();
    expect(await copy.count()).toBe(0);
  });

  test("the hint of an end counts from now", async () => {
    const { page } = await openDashboard({ view: "/keys" });
    await page.getByRole("button", { name: "Create a key" }).click();
    await page.getByText("When the key expires. A duration from now").waitFor();
  });

  test("Escape closes an empty form and keeps a filled one; its button closes both", async () => {
    const { page } = await openDashboard({ view });
    const open = page.getByRole("button", { name: "Create a key" });
    const form = page.getByRole("dialog");
    await open.click();
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "detached" });
    await open.click();
    await page.getByLabel("Name", { exact: true }).fill("Long to write");
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press("Escape");
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Long to write");
    await form.getByText("Escape keeps what you entered").waitFor();
    // Escape leads to the button.
    await page.keyboard.press("Enter");
    await form.waitFor({ state: "detached" });
  });

  test("R37 R38 R39 R40 a key is rotated with an overlap of at most seven days; another page sees it", async () => {
    const dashboard = await openDashboard({ view });
    const { page, ask, another, server } = dashboard;
    const second = await another();
    const old = server.sandbox.secret("active");
    await rowOf(page, "active").getByRole("button", { name: "Rotate active" }).click();
    const minutes = page.getByLabel("Overlap minutes");
    await minutes.fill("10081");
    await minutes.press("Enter");
    await page.getByRole("alert").getByText("overlap_out_of_range").waitFor();
    expect((await ask("/keys/active")).body.data.state).toBe("active");
    await minutes.fill("10080");
    await page.getByLabel("As", { exact: true }).fill("next");
    await page.getByRole("button", { name: "Rotate the key" }).click();
    const secret = await secretShown(page);
    expect([await statusWith(dashboard, old), await statusWith(dashboard, secret)]).toEqual([200, 200]);
    expect((await ask("/keys/active")).body.data).toMatchObject({
      state: "retiring",
      replaced_by: "next",
      overlap_ends_at: "2026-03-09T09:00:00.000Z",
    });
    await rowOf(second, "active").getByText("retiring").waitFor();
    await rowOf(second, "active").getByText("in 7 d").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    expect(await tracesOf(second)).not.toContain(secret);
    // At once, from the page of the key itself.
    await rowOf(page, "next").getByRole("link", { name: "next" }).click();
    await page.getByRole("button", { name: "Rotate next" }).click();
    await page.getByLabel("Overlap minutes").fill("0");
    await page.getByRole("button", { name: "Rotate the key" }).click();
    const third = await secretShown(page);
    expect([await statusWith(dashboard, secret), await statusWith(dashboard, third)]).toEqual([401, 200]);
    // The button that had the focus is gone.
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await page.locator("h2:focus", { hasText: "next" }).waitFor();
  });

  test("R43 an existing key gets an end on its page; what is wrong stands at the field", async () => {
    const { page, ask } = await openDashboard({ view: "/keys/active" });
    await page.getByRole("button", { name: "Ends in… active" }).click();
    await page.getByLabel("Expires", { exact: true }).fill("soon");
    await page.getByRole("button", { name: "Set the end" }).click();
    await page.getByRole("alert").getByText("Correct the marked field.").waitFor();
    await page.getByLabel("Expires", { exact: true }).fill("30m");
    await page.getByRole("button", { name: "Set the end" }).click();
    await page.locator(".facts", { hasText: "Expires" }).getByText("in 30 min").waitFor();
    expect((await ask("/keys/active")).body.data.expires_at).toBe("2026-03-02T09:30:00.000Z");
    await ask("/clock/advance", { method: "POST", json: { by: "30m" } });
    await page.locator(".key-verdict", { hasText: "401 · expired" }).waitFor();
  });

  test("R41 a key is revoked after a confirmation; another page sees it", async () => {
    const dashboard = await openDashboard({ view });
    const { page, ask, another, server } = dashboard;
    const second = await another();
    const secret = server.sandbox.secret("active");
    const revoke = rowOf(page, "active").getByRole("button", { name: "Revoke active" });
    await revoke.press("Enter");
    await page.getByRole("button", { name: "Cancel" }).press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect((await ask("/keys/active")).body.data.state).toBe("active");
    await revoke.press("Enter");
    await page.getByRole("button", { name: "Revoke the key" }).press("Enter");
    await rowOf(second, "active").getByText("revoked", { exact: true }).waitFor();
    expect((await ask("/keys/active")).body.data.state).toBe("revoked");
    expect(await statusWith(dashboard, secret)).toBe(401);
    await rowOf(page, "active").getByText("revoked", { exact: true }).waitFor();
    expect(await rowOf(page, "active").getByRole("button").count()).toBe(0);
  });

  test("R33 a member changes nothing and is told so; the choice lives in the tab", async () => {
    const { page, ask } = await openDashboard({ view });
    const before = (await ask("/state")).body;
    await page.getByLabel("Acting as").selectOption("member");
    await page.reload();
    expect(await page.getByLabel("Acting as").inputValue()).toBe("member");
    await page.getByRole("button", { name: "Rotate active" }).click();
    await page.getByRole("button", { name: "Rotate the key" }).click();
    await page.getByRole("alert").getByText("Only administrators of the organization").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Revoke active" }).click();
    await page.getByRole("button", { name: "Revoke the key" }).click();
    await page.getByRole("alert").getByText("not_an_administrator").waitFor();
    await page.keyboard.press("Escape");
    const bank = page.getByRole("region", { name: "harvest-bank" });
    await bank.getByLabel("Status").selectOption("inactive");
    await bank.getByRole("alert").getByText("not_an_administrator").waitFor();
    expect(await bank.getByLabel("Status").inputValue()).toBe("active");
    expect((await ask("/state")).body).toEqual(before);
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
    // By keyboard, back again.
    await bank.getByLabel("Status").focus();
    await page.keyboard.press("ArrowUp");
    await expect.poll(async () => (await ask("/organizations/harvest-bank")).body.data.status).toBe("active");
  });

  test("a key's page shows all of it and its requests, live", async () => {
    const dashboard = await openDashboard({ view: "/keys/retiring" });
    const { page, server } = dashboard;
    await page.getByText("in 30 min").waitFor();
    await page.getByText("No requests with this key yet.").waitFor();
    await statusWith(dashboard, server.sandbox.secret("retiring"));
    await page.getByText("1 of 120 per minute").waitFor();
    const sent = page.getByRole("region", { name: "Requests with retiring" });
    await sent.getByText("200.retiring").waitFor();
    const all = page.getByRole("link", { name: "Show all requests with this key" });
    expect(await all.getAttribute("href")).toBe("#/requests?key=retiring");
    await page.getByRole("link", { name: "replacement", exact: true }).click();
    await page.getByRole("heading", { name: "replacement" }).waitFor();
    await page.getByRole("link", { name: "retiring", exact: true }).waitFor();
  });

  test("each key's row and page show what its next request gets; its page sends it", async () => {
    const { page, ask, go } = await openDashboard({ view, scenario: "key-states" });
    const verdict = (ref: string) => rowOf(page, ref).locator(".key-verdict");
    const shown = async (ref: string) => (await verdict(ref).textContent()) ?? "";
    await verdict("active").waitFor();
    expect(await shown("active")).toBe("200");
    expect(await shown("wrong-scope")).toBe(
      "403 insufficient_scope: needs attestations:read, has consents:read",
    );
    expect(await shown("live-suspended")).toBe("403 live_access_not_approved: live access is suspended");
    expect(await shown("expired")).toMatch(/^401 · expired 1\sd/);
    // What an organization may do decides, too.
    await ask("/organizations/harvest-bank", { method: "PATCH", json: { status: "inactive" } });
    await verdict("active").getByText("403 access_denied: organization is inactive").waitFor();
    await go("keys/active");
    await page.locator(".key-page .key-verdict").getByText("403 access_denied").waitFor();
    await ask("/organizations/harvest-bank", { method: "PATCH", json: { status: "active" } });
    await page.locator(".key-page .key-verdict").getByText("200", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Send a request" }).click();
    await page.getByText("Response: 200").waitFor();
  });

  test.each([1440, 768])(
    "no verdict is cut at %i pixels, nor a code in one, and each row has its own time since a key ended",
    async (width) => {
      const { page } = await openDashboard({ scenario: "key-states", view: "/keys" });
      await page.setViewportSize({ width, height: 900 });
      const verdicts = page.locator(".key-verdict");
      await verdicts.filter({ hasText: /^401 · revoked/ }).waitFor();
      const cut = await verdicts.evaluateAll(
        (all) =>
          all.filter(
            (one) =>
              getComputedStyle(one).overflowWrap !== "normal" ||
              (one.parentElement?.scrollWidth ?? 0) > (one.parentElement?.clientWidth ?? 0),
          ).length,
      );
      expect(cut).toBe(0);
      const places = await page
        .locator(".key-actions .action-revoke")
        .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().left)));
      expect(new Set(places).size).toBe(1);
      // The columns have heads, which screen readers read.
      if (width > 1000) {
        await page.getByRole("columnheader", { name: "Next request gets" }).first().waitFor();
        expect((await rowOf(page, "active").boundingBox())?.height).toBeLessThan(60);
      }
    },
  );

  test("the server filters: each key of a large population is found, also by digits alone, and few bytes are read", async () => {
    const population = { organizations: 2000, keys_per_organization: 2 };
    const scenario = { version: 1 as const, organizations: {}, population };
    const { page, ask } = await openDashboard({ view: "/keys?filter=organization-1900-key-1", scenario });
    await rowOf(page, "organization-1900-key-1").waitFor();
    await page.getByText("1 of 4,000 keys").waitFor();
    await page.getByLabel("Filter").fill("1999");
    await rowOf(page, "organization-1999-key-2").waitFor();
    expect((await ask("/directory")).text.length).toBeLessThan(60_000);
  });

  test("a secret in the filter goes nowhere", async () => {
    const { page, server } = await openDashboard({ view });
    const secret = server.sandbox.secret("active");
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.getByLabel("Filter").fill(secret);
    await page.getByText("This looks like a secret").waitFor();
    expect(await tracesOf(page)).not.toContain(secret);
    await page.goto(`${server.controlUrl}/#/keys?filter=${secret}&page=1`);
    await quiet(page);
    expect(asked.filter((url) => !url.includes("#") && url.includes(secret))).toEqual([]);
  });
});
