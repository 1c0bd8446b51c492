import { readFileSync } from "node:fs";
import type { Locator } from "playwright-core";
import { describe, expect, test } from "vitest";
import { parseScenario } from "../../src/index.js";
import { noBrowser } from "../support/chromium-page.js";
import { coverage } from "../support/coverage.js";
import { mePath } from "../support/send.js";
import { hashOf, openDashboard, settled } from "./open-dashboard.js";

/** The empty pixels below the content of each row. */
const gapsBelow = (rows: Locator) =>
  rows.evaluateAll((all) =>
    all.map(
      (row) =>
        row.getBoundingClientRect().bottom - (row.lastElementChild as Element).getBoundingClientRect().bottom,
    ),
  );

describe.skipIf(noBrowser)("the overview", () => {
  test("shows the checks in their order, and an exit lights up with its count when a client leaves there", async () => {
    const { page, server, ask, send } = await openDashboard({ scenario: "key-states" });
    const { checks, faults, successes } = (await ask("/request-checks")).body.data;
    const names = checks.map(({ name }: { name: string }) => name);
    await page.locator(".checks > li").nth(checks.length).waitFor();
    expect(await page.locator(".checks > li > strong").allTextContents()).toEqual(
      ["faults", ...names, "passed"].map((name) => name.charAt(0).toUpperCase() + name.slice(1)),
    );
    const exits = checks.flatMap((check: { exits: string[] }) => check.exits);
    expect(await page.locator(".exits code").allTextContents()).toEqual([...faults, ...exits, ...successes]);
    expect(await page.locator("a.exit-covered").count()).toBe(0);

    await send("active", "active", "revoked");
    await page.locator("a.exit-covered", { hasText: "200.test 2" }).waitFor();
    await page.locator("a.exit-covered", { hasText: "401.revoked 1" }).waitFor();
    expect(await page.locator("a.exit-covered").count()).toBe(2);
    await page.getByRole("progressbar", { name: "2 of 17 outcomes covered" }).waitFor();
    expect(server.sandbox.report().coverage).toEqual(coverage(2));
  });

  test("an exit says how to meet it, and what is sent from there is on the map but not the client's; by keyboard", async () => {
    const { page, server, ask } = await openDashboard({ scenario: "key-states" });
    await page.locator("a.exit", { hasText: "401.expired" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => hashOf(page)).toBe("#/overview/401.expired");
    const detail = page.getByRole("region", { name: "Outcome 401.expired" });
    await detail.getByText("send SVC_KEY_EXPIRED").waitFor();
    // Below its check, in sight, with the focus.
    await page.locator("li:has(.exit[data-outcome='401.expired']) > :focus").waitFor();
    const box = await detail.boundingBox();
    expect(box && box.y >= 0 && box.y + box.height <= 900 && box.width > 640).toBe(true);
    // The address shows the same again.
    await page.reload();
    await settled(page);
    await detail.getByRole("button", { name: "Send it now" }).focus();
    await page.keyboard.press("Enter");
    await detail.getByText("Result: 401").waitFor();
    await page.locator("a.exit-by-story", { hasText: "401.expired" }).waitFor();
    const [sent] = (await ask("/requests")).body.data;
    expect(sent).toMatchObject({ key: "expired", outcome: "401.expired", source: "story" });
    expect(server.sandbox.report()).toMatchObject({ requests: 0, coverage: { covered: 0 } });
    // A reload reads it from the journal.
    await page.reload();
    await page.locator("a.exit-by-story", { hasText: "401.expired (1)" }).waitFor();
    await detail.getByRole("link", { name: "Show these requests" }).click();
    await expect.poll(() => hashOf(page)).toBe("#/requests?filter=401.expired");
  });

  test("Escape in the question of an outcome closes only the question", async () => {
    const { page, ask } = await openDashboard({ scenario: "key-states" });
    await ask("/clock/advance", { method: "POST", json: { by: "61s" } });
    await page.locator("a.exit", { hasText: "429.per_minute" }).press("Enter");
    const detail = page.getByRole("region", { name: "Outcome 429.per_minute" });
    await detail.getByRole("button", { name: "Reset, then send it" }).click();
    const question = page.getByRole("dialog", { name: "Reset, then send it?" });
    await question.waitFor();
    await page.keyboard.press("Escape");
    await question.waitFor({ state: "detached" });
    expect(hashOf(page)).toBe("#/overview/429.per_minute");
    await detail.waitFor();
  });

  test("a rejection without a key shows what to do", async () => {
    const { page, server } = await openDashboard({ scenario: "key-states" });
    const headers = { authorization: `Bearer ${server.sandbox.secret("active")}` };
    await fetch(server.url + mePath, { headers });
    const rejection = page.locator('[aria-label="Last rejections"] li').first();
    await rejection.getByText("What to do:").waitFor();
    await rejection.getByText("Send the key in").waitFor();
  });

  test("rejections come first with their causes, and the button that fixes one", async () => {
    const { page, ask, send } = await openDashboard({ scenario: "key-states" });
    await send("active", "wrong-scope", "organization-inactive");
    const rejections = page.locator('[aria-label="Last rejections"]');
    await rejections
      .getByText("with wrong-scope: needs attestations:read, this key has consents:read")
      .waitFor();
    const topOf = async (selector: string) => (await page.locator(selector).first().boundingBox())?.y ?? 0;
    expect(await topOf('[aria-label="Last rejections"]')).toBeLessThan(await topOf("#section-next > p"));
    await rejections.getByRole("button", { name: "Activate the organization" }).click();
    await expect
      .poll(async () => (await ask("/organizations/quillmeadow-insurance")).body.data.status)
      .toBe("active");
  });

  test("the last rejections keep their height when their causes arrive", async () => {
    const { page, send } = await openDashboard({ scenario: "key-states" });
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/requests.req_/, (route) => released.then(() => route.continue()));
    await send("revoked", "wrong-scope");
    const rejections = page.locator('[aria-label="Last rejections"]');
    for (const ref of ["revoked", "wrong-scope"]) await rejections.getByText(`with ${ref}`).waitFor();
    const height = async () => (await rejections.boundingBox())?.height;
    const before = await height();
    release();
    await rejections.getByRole("button", { name: "Create a key like this one" }).waitFor();
    expect(await height()).toBe(before);
  });

  test.each([390, 800, 1280, 1600])(
    "at %i pixels nothing is empty below a rejection with its fix",
    async (width) => {
      const { page, send } = await openDashboard({ scenario: "key-states" });
      await page.setViewportSize({ width, height: 900 });
      await send("wrong-scope", "revoked", "live-suspended");
      const rejections = page.locator('[aria-label="Last rejections"] li');
      for (const fix of ["with this scope", "like this one", "Approve live access"]) {
        await rejections.getByRole("button", { name: fix }).waitFor();
      }
      expect(Math.max(...(await gapsBelow(rejections)))).toBeLessThan(10);
    },
  );

  test("an address without its outcome shows that", async () => {
    const { page, go } = await openDashboard({ scenario: "key-states", view: "/overview/401.nosuch" });
    await page.getByText("There is no outcome 401.nosuch.").waitFor();
    await go("overview/fault.reset");
    await page.getByRole("region", { name: "Outcome fault.reset" }).waitFor();
    expect(await page.getByText("There is no outcome").count()).toBe(0);
  });

  test("the next step to a success that no key gets leads to the keys", async () => {
    const scenario = parseScenario(`
version: 1
organizations:
  a-bank: { type: bank, status: inactive, keys: { one: { environment: test } } }
  b-bank: { type: bank }
`);
    const { page, send } = await openDashboard({ scenario });
    const next = page.locator("#section-next");
    await next.getByText("200.test: ").waitFor();
    expect(await next.innerText()).not.toContain("key-states");
    await next.getByRole("link", { name: "Create a key, or change what its organization may do" }).click();
    await page.getByLabel("Status").first().selectOption("active");
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    await next.getByRole("button", { name: "Send it now" }).waitFor();
    await send("one");
    await next.getByText("200.live: ").waitFor();
    await next.getByRole("link", { name: "Create a key" }).waitFor();
  });

  test("of two keys whose minute is over both are shown, and a move of the clock fixes both", async () => {
    const scenario = parseScenario(`
version: 1
organizations:
  a-bank:
    type: bank
    keys:
      one: { environment: test, limits: { per_minute: 1 } }
      two: { environment: test, limits: { per_minute: 1 } }
      never: { environment: test, limits: { per_minute: 0 } }
`);
    const { page, send } = await openDashboard({ scenario });
    await send("one", "one", "never", "two", "two");
    const rejections = page.getByRole("region", { name: "Last rejections" });
    await rejections.getByRole("button", { name: "Send again" }).nth(2).waitFor();
    await rejections.getByRole("button", { name: "Create a key like this one" }).waitFor();
    const advance = rejections.getByRole("button", { name: "Advance to the next minute" });
    await advance.nth(1).waitFor();
    await advance.first().click();
    await expect.poll(() => advance.count()).toBe(0);
  });

  test("of two keys with the same rejection both are shown, each once, and what a client did not wait for", async () => {
    const scenario = parseScenario(`
version: 1
organizations:
  a-bank:
    type: bank
    keys: { one: { environment: test, state: revoked }, two: { environment: test, state: revoked }, late: { environment: test } }
faults:
  - { when: { key: late }, then: { latency: 30s } }
`);
    const { page, server } = await openDashboard({ scenario });
    const coverage = page.locator("#section-coverage");
    await coverage.getByText("Client requests").waitFor();
    expect(await coverage.getByText("Not waited for").count()).toBe(0);
    const send = (ref: string, signal?: AbortSignal) => {
      const headers = { "x-api-key": server.sandbox.secret(ref as "one") };
      return fetch(server.url + mePath, { headers, ...(signal && { signal }) });
    };
    for (const ref of ["one", "two", "one"]) await send(ref);
    const rejections = page.locator('[aria-label="Last rejections"] li');
    await rejections.nth(1).waitFor();
    await rejections.getByText("with two:").waitFor();
    await rejections.getByText("with one:").waitFor();
    expect(await rejections.count()).toBe(2);
    const impatient = new AbortController();
    const left = send("late", impatient.signal).catch(() => undefined);
    await expect.poll(() => server.sandbox.requests.list({ key: "late" as "one" }).length).toBe(1);
    impatient.abort();
    await left;
    await coverage.getByText("1 delayed response").waitFor();
    await coverage.getByText("Not waited for").waitFor();
  });

  test.each([1280, 1600])(
    "at %i pixels, the next step is below the coverage, so that the request checks start where the rejections end",
    async (width) => {
      const { page, send } = await openDashboard({ scenario: "key-states" });
      await page.setViewportSize({ width, height: 900 });
      const boxOf = async (selector: string) => {
        const { x, y, height } = (await page.locator(selector).first().boundingBox()) ?? {
          x: 0,
          y: 0,
          height: 0,
        };
        return { x, y, bottom: y + height };
      };
      await page.locator("#section-next > p").waitFor();
      // Alone, it is next to the coverage.
      expect((await boxOf("#section-next")).x).toBeLessThan((await boxOf("#section-coverage")).x);
      await send("wrong-scope", "revoked", "live-suspended");
      await page.locator('[aria-label="Last rejections"] button').nth(5).waitFor();
      const [rejections, coverage, next, checks] = [
        await boxOf('[aria-label="Last rejections"]'),
        await boxOf("#section-coverage"),
        await boxOf("#section-next"),
        await boxOf("#section-checks"),
      ];
      expect(next.x).toBe(coverage.x);
      expect(next.y - coverage.bottom).toBeLessThan(20);
      expect(checks.y - Math.max(next.bottom, rejections.bottom)).toBeLessThan(20);
      expect(Math.abs(next.bottom - rejections.bottom)).toBeLessThan(200);
    },
  );

  test("a rejection that nothing on the page fixes takes no more room than its text, and a request without a key has none", async () => {
    const { page, server, send } = await openDashboard({ scenario: "key-states" });
    await fetch(server.url + mePath);
    await fetch(server.url + mePath, { headers: { "x-api-key": `SVC_test_${"a".repeat(32)}` } });
    await send("organization-inactive");
    const rejections = page.locator('[aria-label="Last rejections"] li');
    await rejections.nth(2).getByText("with no key:").waitFor();
    await rejections.nth(1).getByText("with no known key:").waitFor();
    await rejections.first().getByRole("button", { name: "Activate the organization" }).click();
    await rejections.first().getByRole("button", { name: "Activate" }).waitFor({ state: "detached" });
    await rejections.nth(2).getByRole("button", { name: "Send again" }).waitFor();
    expect(Math.max(...(await gapsBelow(rejections)))).toBeLessThan(10);
  });

  test("after a reset, which says that coverage stays, nothing leads to requests that are gone", async () => {
    const { page, server, go } = await openDashboard({ scenario: "key-states" });
    const headers = { "x-api-key": server.sandbox.secret("active") };
    await fetch(`${server.url}${mePath}?key=1`, { headers });
    const link = page.getByRole("link", { name: "Show 1 request" });
    await link.first().waitFor();
    await go("sandbox");
    await page.getByRole("button", { name: "Reset…" }).click();
    await page.getByText("The report keeps its coverage and advice.").waitFor();
    await page.getByRole("button", { name: "Reset it" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await go("overview/200.test");
    await page.locator(".advice").first().waitFor();
    await page.getByText("Client requests: 1.").waitFor();
    // The page reads the report again.
    await expect.poll(() => page.getByRole("link", { name: /^Show/ }).count()).toBe(0);
  });

  test("advice is one line until it is opened, and leads to its requests", async () => {
    const { page, server } = await openDashboard({ scenario: "key-states" });
    const apiKey = server.sandbox.secret("active");
    await fetch(`${server.url}${mePath}?api_key=${apiKey}`);
    const advice = page.locator(".advice", { hasText: "key-in-query" });
    const { rule, whatToDo } = server.sandbox.report().advice.find(({ id }) => id === "key-in-query") ?? {};
    await advice.waitFor();
    expect(await advice.getByText(whatToDo as string).isVisible()).toBe(false);
    await advice.locator("summary").press("Enter");
    await advice.getByText(whatToDo as string).waitFor();
    await advice.getByText(`Rule: ${rule}`).waitFor();
    expect(await page.content()).not.toContain(apiKey);
    await advice.getByRole("link", { name: "1 request" }).click();
    await page.locator(".requests [data-row]").waitFor();
    expect(await page.locator(".requests [data-row]").count()).toBe(1);
  });

  test("the report is saved in each format as the control plane gives it, also where a token is needed", async () => {
    const { page, server, ask, go } = await openDashboard({
      controlToken: "a-token-of-the-test",
      view: "token=a-token-of-the-test",
    });
    await fetch(server.url + mePath);
    await go("overview");
    const headers = { authorization: "Bearer a-token-of-the-test" };
    for (const [title, format, extension] of [
      ["JSON", "json", "json"],
      ["Text", "text", "txt"],
      ["Markdown", "markdown", "md"],
      ["JUnit", "junit", "xml"],
    ] as const) {
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: title, exact: true }).click();
      const file = await download;
      expect(file.suggestedFilename()).toMatch(new RegExp(`^report-[\\w-]+\\.${extension}$`));
      const { text } = await ask(`/report?format=${format}`, { headers });
      expect(readFileSync(await file.path(), "utf8")).toBe(text);
    }
  });

  test("the requests and the report are cleared after a question, by keyboard", async () => {
    const { page, server } = await openDashboard({ scenario: "key-states" });
    await fetch(server.url + mePath);
    await page.locator("a.exit-covered").waitFor();
    const clear = page.getByRole("button", { name: "Clear the requests" });
    await clear.press("Enter");
    await page.getByRole("dialog").getByText("This discards the requests and the report.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(server.sandbox.report().requests).toBe(1);
    await clear.press("Enter");
    await page.getByRole("button", { name: "Clear them" }).press("Enter");
    await page.locator("a.exit-covered").waitFor({ state: "detached" });
    expect([server.sandbox.report().requests, server.sandbox.requests.list()]).toEqual([0, []]);
  });
});
