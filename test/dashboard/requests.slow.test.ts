import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { noBrowser } from "../support/chromium-page.js";
import { mePath } from "../support/send.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { type Dashboard, openDashboard, settled } from "./open-dashboard.js";

type Server = Dashboard["server"];

/** Requests of a client, one after the other. */
async function send({ url, sandbox }: Server, refs: readonly string[]): Promise<void> {
  for (const ref of refs)
    await (await fetch(url + mePath, { headers: { "x-api-key": sandbox.secret(ref) } })).text();
}

/** As many requests without a network. */
async function sendMany({ sandbox }: Server, count: number): Promise<void> {
  const headers = { "x-api-key": sandbox.secret("active") };
  for (let sent = 0; sent < count; sent++) await sandbox.fetch(`https://sandbox.test${mePath}`, { headers });
}

const rows = (page: Page) => page.locator(".request-list tbody tr");
const link = (page: Page, id: string | null) => page.locator(`.request-list [data-row="${id}"] a`);

describe.skipIf(noBrowser)("the requests", () => {
  test("come newest first, and a filter in the address survives a reload", async () => {
    const { page, server, ask } = await openDashboard({ scenario: "key-states", view: "/requests" });
    await page.getByText("No requests yet").waitFor();
    await send(server, ["active", "revoked", "wrong-scope"]);
    await rows(page).nth(2).waitFor();
    expect(await rows(page).locator(".path-badge").allTextContents()).toEqual([
      "403.insufficient_scope",
      "401.revoked",
      "200.test",
    ]);
    await page.getByLabel("Path").selectOption("401.revoked");
    await page.getByLabel("Key").fill("revo");
    await page.getByLabel("Status").selectOption("4");
    await page.reload();
    await settled(page);
    await page.getByText("1 of 3").waitFor();
    expect(await rows(page).getAttribute("data-row")).toBe((await ask("/requests")).body.data[1].id);
    await page.getByLabel("Status").selectOption("403");
    await page.getByText("No requests match these filters.").waitFor();
    await page.getByRole("link", { name: "Remove the filters" }).click();
    await rows(page).nth(2).waitFor();
    expect(new URL(page.url()).hash).toBe("#/requests");
  });

  test("have headings, are found by id, and show the day where it changes", async () => {
    const { page, server, ask, go } = await openDashboard({ scenario: "key-states" });
    for (let sent = 0; sent < 3; sent++) {
      await fetch(`${server.url}/v1/relying-party/me`);
      if (sent === 1) await ask("/clock/advance", { method: "POST", json: { by: "1d" } });
    }
    const { id } = (await ask("/requests")).body.data[1];
    await go("requests");
    await rows(page).nth(2).waitFor();
    const headings = ["Time", "Status", "Request", "Path", "Key and marks"];
    expect(await page.getByRole("columnheader").allInnerTexts()).toEqual(headings);
    const times = await rows(page).locator("time").allInnerTexts();
    expect(times.map((text) => text.trim().replace(/\s+/g, " "))).toEqual([
      "3 Mar 2026, 09:00:00",
      "2 Mar 2026, 09:00:00",
      "09:00:00",
    ]);
    await page.getByLabel("Key or request id").fill(id);
    await page.getByText("1 of 3").waitFor();
    expect(await rows(page).getAttribute("data-row")).toBe(id);
  });

  test("the filter of paths offers those of the sandbox, its own endpoint's among them, and none of endpoints that it lacks", async () => {
    const folder = temporaryFolder();
    const get = { operationId: "getThing", responses: { 200: { description: "A thing" } } };
    const document = {
      openapi: "3.1.0",
      info: { title: "Things", version: "1" },
      paths: { "/things": { get } },
    };
    writeFileSync(join(folder, "things.json"), JSON.stringify(document));
    const organizations = { a: { type: "bank", keys: { one: { environment: "test" } } } };
    const scenario = join(folder, "things.yaml");
    writeFileSync(scenario, JSON.stringify({ version: 1, organizations, openapi: "things.json" }));
    const { page, server } = await openDashboard({ scenario, view: "/requests" });
    const headers = { "x-api-key": server.sandbox.secret("one") };
    for (const path of ["/things", "/things", "/none"]) await fetch(server.url + path, { headers });
    await rows(page).nth(2).waitFor();
    const offered = await page.getByLabel("Path").locator("option").allTextContents();
    expect(offered).toContain("200.getThing");
    const ofEndpoints = offered.filter((path) => /^\d+\.get/.test(path));
    expect(ofEndpoints.filter((path) => !path.endsWith(".getThing"))).toEqual([]);
    await page.getByLabel("Path").selectOption("200.getThing");
    await page.getByText("2 of 3").waitFor();
    expect(await rows(page).count()).toBe(2);
  });

  test("a pause lets the list stand still, and says how much is new", async () => {
    const { page, server } = await openDashboard({ scenario: "key-states", view: "/requests" });
    await send(server, ["active"]);
    await rows(page).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await send(server, ["revoked", "live"]);
    await page.getByRole("button", { name: "2 new" }).waitFor();
    expect(await rows(page).count()).toBe(1);
    await page.getByRole("button", { name: "2 new" }).click();
    await rows(page).nth(2).waitFor();
    await page.getByRole("button", { name: "Pause" }).waitFor();
  });

  test("one opened shows its cause and the fix first, then the checks, and the response as it was sent", async () => {
    const { page, server, ask, go } = await openDashboard({ scenario: "key-states", profile: "typical" });
    await send(server, ["wrong-scope"]);
    const [{ id }] = (await ask("/requests")).body.data;
    const { response, what_to_do: whatToDo } = (await ask(`/requests/${id}`)).body.data;
    await go(`requests/${id}`);
    const detail = page.locator(".detail");
    await detail.getByText(whatToDo).waitFor();
    await detail.getByText("needs attestations:read, this key has consents:read").waitFor();
    await detail.locator(".rejected", { hasText: "scope: rejected" }).waitFor();
    expect(await detail.locator(".strip .not_reached").count()).toBe(2);
    const topOf = async (one: ReturnType<typeof detail.getByText>) => (await one.boundingBox())?.y ?? 0;
    const fix = detail.getByRole("button", { name: "Create a key with this scope" });
    expect(await topOf(fix)).toBeLessThan(await topOf(detail.locator(".strip")));
    expect(await topOf(fix)).toBeLessThan(500);
    expect(await detail.getByText("this key has consents:read").count()).toBe(1);
    const headings = await detail.getByRole("heading").allInnerTexts();
    expect(headings).toEqual([...new Set(headings)]);
    const [head, body] = await detail.locator(".request-response pre").allTextContents();
    expect(JSON.parse(body as string)).toEqual(JSON.parse(response.body));
    for (const [name, value] of Object.entries(response.headers)) expect(head).toContain(`${name}: ${value}`);
  });

  test.each([
    ["revoked", "Create a key like this one"],
    ["expired", "Create a key like this one"],
    ["rotated", "Create a key like this one"],
    ["organization-inactive", "Activate the organization"],
    ["live-not-approved", "Approve live access"],
    ["live-suspended", "Approve live access"],
    ["wrong-scope", "Create a key with this scope"],
    ["rate-limited-minute", "Advance to the next minute"],
    ["rate-limited", "Create a key with a limit"],
    ["flaky", "Turn this fault off"],
  ])(
    "why %s is rejected, and the fix, take three clicks from the overview; the request then gets 200",
    async (ref, fix) => {
      const { page, server, ask } = await openDashboard({ scenario: "key-states" });
      const faults = ref === "flaky" ? [{ when: { key: "active" }, then: { status: 503 } }] : [];
      await ask("/faults", { method: "PUT", json: { faults } });
      await send(server, [ref === "flaky" ? "active" : ref]);
      await page.getByRole("link", { name: "Requests", exact: true }).click();
      await rows(page).first().click();
      await page.getByRole("button", { name: fix }).click();
      const again = page.getByRole("button", { name: "Send again" });
      await page.locator(".secret:focus, .send-again:focus").waitFor();
      const secret = fix.startsWith("Create") ? await page.locator(".secret-text").innerText() : undefined;
      await again.click();
      await page.getByText("Sent again: 200").waitFor();
      expect(await page.locator(".strip > li:not(.passed)").count()).toBe(0);
      expect(await page.getByRole("button", { name: fix }).count()).toBe(0);
      // The new key's secret stays until the request is closed.
      expect(await page.locator(".secret-text").count()).toBe(secret === undefined ? 0 : 1);
      expect((await ask("/requests")).text).not.toContain(secret ?? "svc_");
    },
  );

  test("an empty list shows that filters are set, and removes them", async () => {
    const { page } = await openDashboard({ scenario: "key-states", view: "/requests?path=401.revoked" });
    await page.getByText("No requests yet, and filters are set.").waitFor();
    expect(await page.getByText("Point your client at this base URL").count()).toBe(0);
    await page.getByRole("link", { name: "Remove the filters" }).click();
    await page.getByText("Point your client at this base URL").waitFor();
  });

  test("the page of a request has the parts of explain in their order, and copies them without a secret", async () => {
    const context = { permissions: ["clipboard-read", "clipboard-write"] };
    const { page, server } = await openDashboard({ scenario: "key-states", view: "/requests", context });
    await send(server, ["revoked", "revoked", "active"]);
    await rows(page).nth(1).click();
    const detail = page.locator(".detail");
    const around = detail.getByRole("link", { name: "Requests with this key" });
    expect(await around.getAttribute("href")).toMatch(/^#\/requests\/req_\w+\?key=revoked$/);
    const parts = ["Result", "What to do", "Request checks", "Key", "user-agent", "Advice"];
    const shown = await detail.locator("h3, dt").allTextContents();
    expect(shown.filter((part) => parts.includes(part)).slice(0, parts.length)).toEqual(parts);
    await detail.getByRole("button", { name: "Copy for support" }).click();
    await detail.getByRole("button", { name: "Copied" }).waitFor();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    expect(text).toMatch(/^GET \/v1\/relying-party\/me at .*, req_/);
    expect(text).toMatch(/^Requests with this key(?:\n.*)*this one +401\.revoked/m);
    expect(text).not.toContain(server.sandbox.secret("revoked").slice(12));
  });

  test("at 1,024 pixels each request is one line, and at least 15 are on the screen", async () => {
    const { page, server } = await openDashboard({ scenario: "key-states", view: "/requests" });
    await page.setViewportSize({ width: 1024, height: 768 });
    await send(
      server,
      Array.from({ length: 20 }, () => "active"),
    );
    await rows(page).nth(19).waitFor();
    const heights = await rows(page).evaluateAll((all) =>
      all.map((row) => row.getBoundingClientRect().height),
    );
    for (const height of heights) expect(height).toBeLessThan(32);
    const cut = await rows(page)
      .locator("th, td:nth-child(3), td:nth-child(4)")
      .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
    expect(cut).toBe(0);
    const ends = await rows(page).evaluateAll((all) => all.map((row) => row.getBoundingClientRect().bottom));
    expect(ends.filter((end) => end <= 768).length).toBeGreaterThanOrEqual(15);
  });

  test("Escape after a request was sent again focuses its row, or the one that was opened", async () => {
    const view = "/requests?path=403.access_denied";
    const { page, server } = await openDashboard({ scenario: "key-states", view });
    await send(server, ["organization-inactive", "organization-inactive"]);
    // Without the opened one, the first row would get the focus.
    const opened = rows(page).nth(1);
    const id = await opened.getAttribute("data-row");
    await link(page, id).press("Enter");
    await page.locator(".detail:focus").waitFor();
    await page.getByRole("button", { name: "Activate the organization" }).click();
    await page.locator(".send-again:focus").press("Enter");
    await page.getByText("Sent again: 200").waitFor();
    await page.keyboard.press("Escape");
    await page.locator(`[data-row="${id}"] a:focus`).waitFor();
  });

  test("a key that was issued for a request is not offered after a reset elsewhere", async () => {
    const { page, server, ask } = await openDashboard({ scenario: "key-states", view: "/requests" });
    await send(server, ["revoked"]);
    await rows(page).first().click();
    await page.getByRole("button", { name: "Create a key like this one" }).click();
    await page.locator(".secret-text").waitFor();
    await ask("/reset", { method: "POST" });
    await page.locator(".secret-text").waitFor({ state: "detached" });
    expect(await page.getByRole("button", { name: /^Copy key/ }).count()).toBe(0);
    await page.getByRole("button", { name: "Send again", exact: true }).waitFor();
  });

  test("a full journal draws a hundred requests, and more when somebody asks for them", async () => {
    const { page, server, ask, go } = await openDashboard({ scenario: "key-states" });
    await sendMany(server, 1200);
    await go("requests");
    await page.getByText("Last 1,000 requests").waitFor();
    expect(await rows(page).count()).toBe(100);
    for (let drawn = 200; drawn <= 1000; drawn += 100) {
      await page.getByRole("button", { name: "Show 100 more" }).click();
      await rows(page)
        .nth(drawn - 1)
        .waitFor();
    }
    await link(page, (await ask("/requests")).body.data[0].id).waitFor();
    expect(await page.getByRole("button", { name: /^Show/ }).count()).toBe(0);
  });
});
