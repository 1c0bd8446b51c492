import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { noBrowser } from "../support/chromium-page.js";
import { type Dashboard, openDashboard } from "./open-dashboard.js";

const open = (scenario = "key-states") => openDashboard({ scenario, view: "/faults" });

const assumed = async ({ ask }: Dashboard) => (await ask("/assumptions")).body.data;
const faultsOf = async ({ ask }: Dashboard) => (await ask("/faults")).body.data;
const section = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

describe.skipIf(noBrowser)("the view of faults and assumptions", () => {
  test("a profile is chosen by keys, and all assumptions become its own", async () => {
    const dashboard = await open();
    const { page } = dashboard;
    await page.getByRole("radio", { name: /^minimal/ }).focus();
    await page.keyboard.press("ArrowDown");
    await page.getByText("All values match the profile typical.").waitFor();
    expect(await assumed(dashboard)).toMatchObject({ profile: "typical", retry_after: "seconds" });
  });

  test("each kind of assumption is changed and set back, and what differs is marked", async () => {
    const dashboard = await open();
    const { page } = dashboard;
    await page.getByText("All values match the profile minimal.").click();
    await page.getByLabel("www_authenticate").press("Space");
    await expect.poll(async () => (await assumed(dashboard)).www_authenticate).toBe(true);
    await page.getByLabel("retry_after").selectOption("date");
    await expect.poll(async () => (await assumed(dashboard)).retry_after).toBe("date");
    await page.getByRole("textbox", { name: "rate_limit_code" }).fill("slow_down");
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await assumed(dashboard)).rate_limit_code).toBe("slow_down");
    await page.getByRole("textbox", { name: "me_scope" }).fill("");
    await page.getByRole("button", { name: "Change me_scope" }).click();
    await expect.poll(async () => (await assumed(dashboard)).me_scope).toBe(null);
    await page.getByText("4 values differ from the profile minimal.").waitFor();
    await page.getByRole("button", { name: "Reset retry_after" }).press("Enter");
    await page.getByText("3 values differ from the profile minimal.").waitFor();
    expect((await assumed(dashboard)).retry_after).toBe("none");
    await page.getByRole("button", { name: "Reset all" }).click();
    await page.getByText("All values match the profile minimal.").waitFor();
    expect(await assumed(dashboard)).toMatchObject({
      me_scope: "attestations:read",
      www_authenticate: false,
    });
  });

  test("a value that cannot be is rejected at its field, and nothing changes", async () => {
    const dashboard = await open();
    const { page } = dashboard;
    const before = await assumed(dashboard);
    await page.getByText("All values match the profile minimal.").click();
    for (const [name, text, says] of [
      ["scopes", "attestations:read, A B", 'must be a scope name, not "A"'],
      ["me_scope", "nope:x", "which is not one of scopes"],
      ["day_resets_at", "25:00", "25:00"],
    ] as const) {
      await page.getByRole("textbox", { name }).fill(text);
      await page.keyboard.press("Enter");
      await page
        .locator("li", { has: page.getByText(name, { exact: true }) })
        .getByRole("alert")
        .filter({ hasText: says })
        .waitFor();
    }
    expect(await assumed(dashboard)).toEqual(before);
  });

  test("a fault is added by the form, hits requests, is turned off and on, and removed", async () => {
    const dashboard = await open();
    const { page, server } = dashboard;
    const key = server.sandbox.secret("active");
    const status = async () =>
      (await fetch(`${server.url}/v1/relying-party/me`, { headers: { "x-api-key": key } })).status;
    const part = section(page, "Faults");
    await part.getByLabel("Key").selectOption("active");
    await part.getByRole("button", { name: "Add the fault" }).press("Enter");
    await part.getByText("Every request with the key active:").waitFor();
    const fault = { when: { key: "active" }, then: { status: 503 } };
    expect(await faultsOf(dashboard)).toEqual([fault]);
    expect(await status()).toBe(503);
    await part.getByRole("button", { name: "Turn off" }).press("Enter");
    await part.getByText("off", { exact: true }).waitFor();
    expect(await status()).toBe(200);
    await part.getByRole("button", { name: "Turn on" }).press("Enter");
    await expect.poll(() => faultsOf(dashboard)).toEqual([fault]);
    await part.getByRole("button", { name: "Remove" }).press("Enter");
    await part.getByText("No faults").waitFor();
    expect(await faultsOf(dashboard)).toEqual([]);
  });

  test("a fault that hits some requests shows live how many of the matching ones it hit", async () => {
    const { page, server, ask } = await open();
    const third = { when: { key: "active", every: 3 }, then: { status: 503 } };
    const late = { when: { key: "live", requests: [1, 3, 9] }, then: { latency: "1ms" } };
    const hidden = { when: { every: 2 }, then: { status: 500 } };
    await ask("/faults", { method: "PUT", json: { faults: [third, late, hidden] } });
    const send = async (ref: string, times: number) => {
      const headers = { "x-api-key": server.sandbox.secret(ref) };
      for (let sent = 0; sent < times; sent++) await fetch(`${server.url}/v1/relying-party/me`, { headers });
    };
    await page.getByText("0 of 0 matching requests failed.").waitFor();
    await send("active", 30);
    await page.getByText("10 of 30 matching requests failed.").waitFor();
    await send("live", 4);
    await page.getByText("2 of 4 matching requests were delayed.").waitFor();
    // Another fault may have hit some of them before.
    await page.getByText("34 requests matched.").waitFor();
  });

  test("what is wrong in the form is shown at its own field", async () => {
    const { page } = await openDashboard({ view: "/faults" });
    const wrong = () =>
      page.locator(".field", { has: page.locator('[aria-invalid="true"]') }).allInnerTexts();
    await page.getByLabel("Effect").selectOption("latency");
    await page.getByLabel("Delay", { exact: true }).fill("soon");
    await page.getByRole("button", { name: "Add the fault" }).click();
    await page.getByRole("alert").waitFor();
    expect(await wrong()).toEqual([expect.stringMatching(/^Delay\n/)]);
    await page.getByLabel("Delay", { exact: true }).fill("1s");
    await page.getByText("Limit to some requests").click();
    await page.getByLabel("Request numbers").fill("1, x");
    await page.getByRole("button", { name: "Add the fault" }).click();
    await expect.poll(wrong).toEqual([expect.stringMatching(/^Request numbers\n+Must be an integer/)]);
  });

  test("the form makes every kind of fault, with every condition", async () => {
    const dashboard = await open();
    const { page } = dashboard;
    const part = section(page, "Faults");
    const add = async (kind: string, fields: Readonly<Record<string, string>> = {}) => {
      const count = (await faultsOf(dashboard)).length;
      await part.getByLabel("Effect").selectOption(kind);
      for (const [label, value] of Object.entries(fields)) {
        const field = part.getByLabel(label, { exact: true });
        if ((await field.evaluate(({ tagName }) => tagName)) === "SELECT") await field.selectOption(value);
        else await field.fill(value);
      }
      await part.getByRole("button", { name: "Add the fault" }).click();
      await expect.poll(async () => (await faultsOf(dashboard)).length).toBe(count + 1);
      await part.locator(".faults li").nth(count).waitFor();
    };
    // Without a delay the least is 0.
    await add("status", { "Maximum delay": "2s" });
    for (const kind of ["reset", "hang", "truncate", "malformed"]) await add(kind);
    await add("slow", { "Bytes per second": "25" });
    await add("latency", { Delay: "200ms", "Maximum delay": "2s" });
    await part.getByText("Limit to some requests").click();
    const when = {
      "Every nth": "3",
      Probability: "0.5",
      "Outcome without the fault": "200.test",
      Organization: "harvest-bank",
    };
    await add("status", { Status: "502", Body: "html", From: "2026-03-02T09:00:00Z", Until: "1h", ...when });
    await add("status", { "Request numbers": "3, 4" });
    expect(await faultsOf(dashboard)).toMatchObject([
      { then: { status: 503, latency: { min: "0ms", max: "2s" } } },
      ...["reset", "hang", "truncate", "malformed"].map((kind) => ({ then: { [kind]: true } })),
      { then: { slow: 25 } },
      { then: { latency: { min: "200ms", max: "2s" } } },
      {
        when: { every: 3, probability: 0.5, path_id: "200.test", organization: "harvest-bank" },
        then: { status: 502, body: "html" },
      },
      { when: { requests: [3, 4] }, then: { status: 502, body: "html" } },
    ]);
    for (const words of [
      ...[
        "sends 503, after 0ms to 2s",
        "resets the connection.",
        "sends 25 bytes per second.",
        "delays the response by 200ms to 2s.",
      ],
      "Every 3rd request from harvest-bank that would result in 200.test with a probability of 50% after 2026-03-02 09:00 UTC until",
      "Request 3 and 4:",
    ])
      await part.locator(".faults li > p", { hasText: words }).first().waitFor();
  });
});
