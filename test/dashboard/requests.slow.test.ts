import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { parseScenario } from "../../src/index.js";
import { noBrowser } from "../support/chromium-page.js";
import { mePath } from "../support/send.js";
import { clipboard, hashOf, openDashboard, quiet, settled } from "./open-dashboard.js";

const rows = (page: Page) => page.locator(".requests [data-row]");

describe.skipIf(noBrowser)("the requests", () => {
  test("are as many as by default if the limit in the address is below 0", async () => {
    const { page, send } = await openDashboard({ scenario: "key-states", view: "/requests?limit=-1" });
    await send("active", "revoked");
    await rows(page).nth(1).waitFor();
    expect(await page.getByRole("button", { name: /^Show/ }).count()).toBe(0);
  });

  test("come newest first; a filter of words is in the address and survives a reload", async () => {
    const { page, ask, send } = await openDashboard({ scenario: "key-states", view: "/requests" });
    await page.getByText("No requests yet").waitFor();
    await send("active", "revoked", "wrong-scope", "live", "live-suspended");
    await rows(page).nth(4).waitFor();
    const badges = () => rows(page).locator("a code").allTextContents();
    const all = ["403.live_suspended", "200.live", "403.insufficient_scope", "401.revoked", "200.test"];
    expect(await badges()).toEqual(all);
    const filter = page.getByLabel("Filter");
    await filter.fill("403 suspen");
    await page.reload();
    await settled(page);
    await page.getByText("1 of 5 requests").waitFor();
    // A whole word comes before a part of one.
    await filter.fill("live");
    await expect.poll(badges).toEqual(["200.live"]);
    const { id } = (await ask("/requests")).body.data[1];
    for (const words of [id, "401.revoked", "401"]) {
      await filter.fill(words);
      await expect.poll(badges).toEqual(["401.revoked"]);
    }
    await filter.fill("4xx");
    await page.getByText("3 of 5 requests").waitFor();
    await filter.fill("nothing");
    await page.getByText("No requests match this filter.").waitFor();
    await filter.fill("");
    await rows(page).nth(4).waitFor();
    await expect.poll(() => hashOf(page)).toBe("#/requests");
  });

  test("are found by their method, in any case, and by each of several words", async () => {
    const { page, server, send, go } = await openDashboard({ scenario: "key-states" });
    await send("active", "retiring", "wrong-scope");
    await fetch(server.url + mePath, { method: "POST" });
    const count = async (words: string, text: string) => {
      await go(`requests?filter=${encodeURIComponent(words)}`);
      await page.getByText(text, { exact: true }).waitFor();
    };
    await count("post", "1 of 4 requests");
    await count("get 200", "2 of 4 requests");
    await count("retiring 200", "1 of 4 requests");
  });

  test("have heads, a duration, and their status once", async () => {
    const { page, ask, send, go } = await openDashboard({ scenario: "key-states" });
    await send("revoked");
    await ask("/faults", { method: "PUT", json: { faults: [{ then: { status: 503 } }] } });
    await send("active");
    await go("requests");
    expect(await page.locator(".requests .heads").innerText()).toMatch(
      /Outcome\s+Key\s+Request\s+Duration\s+Time/,
    );
    const [ofFault = "", revoked = ""] = await rows(page).allInnerTexts();
    expect(revoked.match(/401/g)).toHaveLength(1);
    expect(revoked).toMatch(/\d ms/);
    expect(ofFault).toMatch(/^fault\.status 503\s/);
  });

  test("a secret in the filter goes nowhere", async () => {
    const { page, server } = await openDashboard({ scenario: "key-states", view: "/requests" });
    await page.getByLabel("Filter").fill(server.sandbox.secret("active"));
    await page.getByText("This looks like a secret").waitFor();
    expect(page.url() + (await page.content())).not.toContain(server.sandbox.secret("active"));
  });

  test("show the day where it changes", async () => {
    const { page, server, ask, go } = await openDashboard({ scenario: "key-states" });
    for (const by of ["1s", "1d", "1s"]) {
      await fetch(server.url + mePath);
      await ask("/clock/advance", { method: "POST", json: { by } });
    }
    await go("requests");
    await rows(page).nth(2).waitFor();
    expect(await page.locator(".rows > .day").allInnerTexts()).toEqual(["3 Mar 2026", "2 Mar 2026"]);
    expect(await rows(page).locator("time").allInnerTexts()).toEqual(["09:00:01", "09:00:01", "09:00:00"]);
  });

  test("one opened shows its cause and the fix first, then the checks, and the response as it was sent", async () => {
    const { page, ask, go, send } = await openDashboard({ scenario: "key-states", profile: "typical" });
    await send("wrong-scope");
    const [{ id }] = (await ask("/requests")).body.data;
    const { response, what_to_do: whatToDo } = (await ask(`/requests/${id}`)).body.data;
    await go(`requests/${id}`);
    const detail = page.locator(".detail");
    await detail.getByText(whatToDo).waitFor();
    await detail.getByText("needs attestations:read, this key has consents:read").waitFor();
    await detail.locator(".rejected", { hasText: "scope: rejected" }).waitFor();
    expect(await detail.locator(".strip .not_reached").allTextContents()).toEqual(["limits: not reached"]);
    const topOf = async (part: ReturnType<typeof detail.getByText>) => (await part.boundingBox())?.y ?? 0;
    const fix = detail.getByRole("button", { name: "Create a key with this scope" });
    expect(await topOf(fix)).toBeLessThan(await topOf(detail.locator(".strip")));
    expect(await topOf(fix)).toBeLessThan(500);
    const headings = await detail.getByRole("heading").allInnerTexts();
    expect(headings).toEqual([...new Set(headings)]);
    const body = await detail.locator("pre").last().textContent();
    expect(JSON.parse(body as string)).toEqual(JSON.parse(response.body));
    const head = await detail.locator("dl").last().innerText();
    for (const value of Object.values<string>(response.headers)) expect(head).toContain(value);
  });

  test.each([
    ["revoked", "Create a key like this one"],
    ["expired", "Create a key like this one"],
    ["organization-inactive", "Activate the organization"],
    ["live-not-approved", "Approve live access"],
    ["live-suspended", "Approve live access"],
    ["wrong-scope", "Create a key with this scope"],
    ["rate-limited-minute", "Advance to the next minute"],
    ["rate-limited", "Create a key like this one"],
  ])(
    "why %s is rejected, and the fix, take three clicks from the overview; the request then gets 200",
    async (ref, fix) => {
      const { page, ask, send } = await openDashboard({ scenario: "key-states" });
      await send(ref);
      await page.getByRole("link", { name: "Requests", exact: true }).click();
      await rows(page).first().click();
      await page.locator(".detail").getByRole("button", { name: fix }).click();
      const again = page.getByRole("button", { name: "Send again" });
      await page.locator(".secret:focus, .send-again:focus").waitFor();
      const secret = fix.startsWith("Create") ? await page.locator(".secret .code").innerText() : undefined;
      await again.click();
      await page.locator(".detail .status", { hasText: "200" }).waitFor();
      expect(await page.locator(".strip > li:not(.passed)").count()).toBe(0);
      expect(await page.locator(".detail").getByRole("button", { name: fix }).count()).toBe(0);
      // Nothing else than the page that created the key still has its secret.
      expect(await page.locator(".secret").count()).toBe(0);
      expect((await ask("/requests")).text).not.toContain(secret ?? "svc_");
    },
  );

  test.each([
    ["organization-inactive", "Activate the organization"],
    ["live-suspended", "Approve live access"],
    ["wrong-scope", "Create a key with this scope"],
    ["revoked", "Create a key like this one"],
  ])("the fix of %s is that of its outcome, also if its key has a limit of 0", async (ref, fix) => {
    const scenario = parseScenario(`
version: 1
organizations:
  a-bank:
    type: bank
    keys:
      wrong-scope: { environment: test, scopes: ["consents:read"], limits: { per_minute: 0 } }
      revoked: { environment: test, state: revoked, limits: { per_minute: 0 } }
  b-bank:
    type: bank
    status: inactive
    keys: { organization-inactive: { environment: test, limits: { per_minute: 0 } } }
  c-bank:
    type: bank
    live_access: suspended
    keys: { live-suspended: { environment: live, limits: { per_minute: 0 } } }
`);
    const { page, send } = await openDashboard({ scenario, view: "/requests" });
    await send(ref);
    await rows(page).first().click();
    const detail = page.locator(".detail");
    await detail.getByRole("button", { name: "Send again" }).waitFor();
    await quiet(page);
    expect(await detail.locator(".bar button:not(.send-again)").first().innerText()).toBe(fix);
  });

  test("a body keeps its values as they were sent, and a header without a value is shown", async () => {
    const { page, go, ask } = await openDashboard({ scenario: "key-states" });
    const body = '{"n":1.0,"big":12345678901234567890,"s":"\\u00e9 {\\"a\\": [1]}","e":[],"o":{}}';
    const error = {
      request: (await ask("/send", { method: "POST", json: { key: "active" } })).body.data.request,
    };
    await page.route("**/__sandbox/requests/*", async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      json.data.response.body = body;
      json.data.sent.headers = { "x-empty": "" };
      await route.fulfill({ response, json });
    });
    await go(`requests/${error.request.id}`);
    const detail = page.getByRole("region", { name: "Request", exact: true });
    await detail.getByText('"n":1.0,').waitFor();
    // Laid out, it would have other numbers.
    expect((await detail.locator("pre").innerText()).trim()).toBe(body);
    await detail
      .locator("div", { hasText: /^x-empty/ })
      .getByText("empty", { exact: true })
      .waitFor();
    // It can be scrolled by keyboard.
    expect(await detail.locator("pre").getAttribute("tabindex")).toBe("0");
  });

  test("a 429 that no reset ends has a new key for a fix", async () => {
    const scenario = parseScenario(`
version: 1
clock: { now: 2026-03-02T09:00:00Z }
organizations:
  a-bank:
    type: bank
    keys: { one: { environment: test, limits: { per_minute: 1 }, expires: 30s } }
`);
    const { page, send } = await openDashboard({ scenario, view: "/requests" });
    await send("one", "one");
    await rows(page).nth(1).waitFor();
    await rows(page).first().click();
    const detail = page.locator(".detail");
    await detail.getByRole("button", { name: "Create a key like this one" }).click();
    await detail.getByRole("button", { name: "Send again with" }).click();
    await detail.locator(".status", { hasText: "200" }).waitFor();
  });

  test("a rotated key has its replacement for a fix: no other key is offered, and the request gets 200 with it", async () => {
    const { page, send } = await openDashboard({ scenario: "key-states", view: "/requests" });
    await send("rotated");
    await rows(page).first().click();
    const detail = page.locator(".detail");
    await detail.getByRole("button", { name: "Send again with retiring" }).click();
    await detail.locator(".status", { hasText: "200" }).waitFor();
    expect(await detail.getByRole("button", { name: "Create" }).count()).toBe(0);
  });

  test("what to do is labeled, also after a 200", async () => {
    const { page, send } = await openDashboard({ scenario: "key-states", view: "/requests" });
    await send("active");
    await rows(page).first().click();
    await page.locator(".detail").getByText("What to do: Nothing: the key works.").waitFor();
  });

  test("a request is copied for support without a secret, and leads to the others with its key", async () => {
    const { page, server, send } = await openDashboard({ scenario: "key-states", view: "/requests" });
    await send("revoked", "revoked", "active");
    await rows(page).nth(1).click();
    const detail = page.locator(".detail");
    await detail.getByRole("button", { name: "Copy for support" }).click();
    await detail.getByRole("button", { name: "Copied" }).waitFor();
    const text = await clipboard(page);
    expect(text).toMatch(/^GET \/v1\/relying-party\/me at .*, req_/);
    expect(text).not.toContain(server.sandbox.secret("revoked").slice(12));
    await detail.getByRole("link", { name: "Requests with this key" }).click();
    await page.getByText("2 of 3 requests").waitFor();
  });

  test.each([
    [390, 70],
    [768, 70],
    [1280, 40],
  ])(
    "at %i pixels a row is at most %i pixels high, and the list starts in the upper half",
    async (width, height) => {
      const { page, send } = await openDashboard({ scenario: "key-states", view: "/requests" });
      await page.setViewportSize({ width, height: 844 });
      await send("active", "live-not-approved", "legacy", "rate-limited");
      await rows(page).nth(3).waitFor();
      const heights = await rows(page).evaluateAll((all) =>
        all.map((row) => row.getBoundingClientRect().height),
      );
      expect(Math.max(...heights)).toBeLessThanOrEqual(height);
      const top = (await rows(page).first().boundingBox())?.y ?? 0;
      expect(top).toBeLessThan(340);
    },
  );

  test.each([
    [390, 844],
    [900, 700],
    [1200, 800],
    [1280, 900],
    [1600, 900],
  ])(
    "at %i by %i pixels the row of an opened request stays in sight and is marked, and has the focus once it is closed",
    async (width, height) => {
      const { page, send } = await openDashboard({ scenario: "key-states", view: "/requests" });
      await page.setViewportSize({ width, height });
      await send(...Array.from({ length: 60 }, (_, index) => (index % 3 ? "live-not-approved" : "active")));
      await rows(page).nth(59).waitFor();
      for (const nth of [3, 24, 45, 58]) {
        const row = rows(page).nth(nth);
        await row.evaluate((element) => element.scrollIntoView({ block: "center" }));
        const topOf = async (part = row) => (await part.boundingBox())?.y ?? Number.NaN;
        const expectInSight = async (when: string) => {
          expect.soft(await topOf(), `${nth}, ${when}`).toBeGreaterThanOrEqual(0);
          expect.soft(await topOf(), `${nth}, ${when}`).toBeLessThan(height);
        };
        await row.locator("a").click();
        const detail = page.locator(".detail");
        await detail.locator(".strip").waitFor();
        await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
        expect.soft(await topOf(detail), `${nth}, detail`).toBeGreaterThanOrEqual(0);
        expect.soft(await topOf(detail), `${nth}, detail`).toBeLessThan(height / 2);
        if (await row.isVisible()) {
          await expectInSight("open");
          expect(await row.evaluate((element) => getComputedStyle(element).borderInlineEndWidth)).toBe("3px");
        }
        if (nth === 24) await page.goBack();
        else await page.getByRole("link", { name: "Close" }).click();
        await detail.waitFor({ state: "detached" });
        await row.locator("a:focus").waitFor();
        await expectInSight("closed");
      }
    },
  );

  test("the status of a fault has the color of its outcome", async () => {
    const { page, send, ask } = await openDashboard({ scenario: "key-states", view: "/requests" });
    await ask("/faults", { method: "PUT", json: { faults: [{ then: { status: 503 } }] } });
    await send("active");
    const link = rows(page).first().getByRole("link", { name: "fault.status 503" });
    const [statusColor, outcomeColor] = await link.evaluate((element) =>
      [element, element.firstElementChild as Element].map((part) => getComputedStyle(part).color),
    );
    expect(statusColor).toBe(outcomeColor);
  });

  test("one that was sent again is opened, and Escape focuses its row", async () => {
    const { page, send } = await openDashboard({ scenario: "key-states", view: "/requests" });
    await send("organization-inactive");
    await rows(page).first().locator("a").press("Enter");
    await page.locator(".detail:focus").waitFor();
    await page.locator(".detail").getByRole("button", { name: "Activate the organization" }).click();
    await page.locator(".send-again:focus").press("Enter");
    await page.locator(".detail .status", { hasText: "200" }).waitFor();
    await rows(page).nth(1).waitFor();
    await page.locator(".detail:focus").press("Escape");
    await rows(page).first().locator("a:focus", { hasText: "200.test" }).waitFor();
  });

  test("the address of a request that is gone shows that, and no other request", async () => {
    const { page, ask, send } = await openDashboard({ scenario: "key-states", view: "/requests" });
    await send("organization-inactive");
    await rows(page).first().click();
    const detail = page.locator(".detail");
    const fix = detail.getByRole("button", { name: "Activate the organization" });
    for (const gone of ["req_nosuch", "../state"]) {
      await fix.waitFor();
      await page.evaluate((id) => location.assign(`#/requests/${id}`), gone);
      await detail.getByRole("alert").waitFor();
      expect([gone, await detail.getByRole("button").count()]).toEqual([gone, 0]);
      expect(await detail.innerText()).not.toMatch(/organization-inactive|403/);
      await page.goBack();
    }
    await fix.waitFor();
    await page.evaluate(() => location.assign("#/requests/.."));
    await detail.waitFor({ state: "detached" });
    await page.goBack();
    await fix.waitFor();
    await ask("/reset", { method: "POST" });
    await detail.getByRole("alert").waitFor();
    expect(await detail.getByRole("button").count()).toBe(0);
  });

  test("a key that was issued for a request is not offered after a reset elsewhere", async () => {
    const { page, ask, send } = await openDashboard({ scenario: "key-states", view: "/requests" });
    await send("revoked");
    await rows(page).first().click();
    await page.getByRole("button", { name: "Create a key like this one" }).click();
    await page.locator(".secret .code").waitFor();
    await ask("/reset", { method: "POST" });
    await page.locator(".secret .code").waitFor({ state: "detached" });
  });

  test("a full journal draws two hundred requests, and more when somebody asks for them", async () => {
    const { page, server, go } = await openDashboard({ scenario: "key-states" });
    const headers = { "x-api-key": server.sandbox.secret("active") };
    for (let sent = 0; sent < 1200; sent++) {
      await server.sandbox.fetch(`https://sandbox.test${mePath}`, { headers });
    }
    await go("requests");
    await page.getByText("the last 1,000").waitFor();
    expect(await rows(page).count()).toBe(200);
    for (let drawn = 400; drawn <= 1000; drawn += 200) {
      await page.getByRole("button", { name: "Show 200 more" }).click();
      await rows(page)
        .nth(drawn - 1)
        .waitFor();
    }
    expect(await page.getByRole("button", { name: /^Show/ }).count()).toBe(0);
  });
});
