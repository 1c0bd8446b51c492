import { describe, expect, test } from "vitest";
import { noBrowser } from "../support/chromium-page.js";
import { coverage } from "../support/coverage.js";
import { mePath } from "../support/send.js";
import { openDashboard, settled } from "./open-dashboard.js";

const context = { permissions: ["clipboard-read", "clipboard-write"] };

describe.skipIf(noBrowser)("instances", () => {
  test("one is made, shows its own page, and is removed after a question", async () => {
    const instanceTtl = 30 * 24 * 3_600_000;
    const { page, ask, server } = await openDashboard({ view: "/instances", instanceTtl });
    await page.getByText("or without requests for 30 d.").waitFor();
    await page.getByText("Create an instance").click();
    await page.getByLabel("Scenario").selectOption("revoked");
    await page.getByLabel("Seed").fill("7");
    await page.getByLabel("Expires").fill("30d");
    await page.getByLabel("Requests per minute").fill("600");
    const label = "a test: rotates[2], and more";
    await page.getByLabel("Label").fill(label);
    await page.keyboard.press("Enter");
    await page.getByText("Copy its keys and token now: this page keeps them only until").waitFor();
    expect(await page.getByRole("button", { name: "Create the instance" }).count()).toBe(0);
    const [instance] = (await ask("/instances")).body.data;
    expect(instance).toMatchObject({ scenario: "revoked", seed: 7, label, requests_per_minute: 600 });
    expect(await page.content()).not.toMatch(/SVC_test_\w{20}|svci_|code=/);
    await fetch(`${server.url}/i/${instance.id}/v1/relying-party/me`);
    const list = page.getByRole("region", { name: "List of instances" });
    await list.getByText("401.missing").waitFor();
    expect(await list.locator("tbody td").allInnerTexts()).toEqual([
      "1",
      `${coverage(1).percent}%`,
      "1",
      expect.stringMatching(/^401.missing \d+\ss ago$/),
      expect.stringMatching(/^in \d+\sd/),
      "600/min",
      expect.stringContaining("New link"),
    ]);
    await list.getByRole("link", { name: label }).click();
    await settled(page);
    await page.getByRole("link", { name: label, exact: true }).waitFor();
    expect(await page.title()).toBe(`Overview · ${label} · svc-sandbox`);
    expect(new URL(page.url()).pathname).toBe(`/i/${instance.id}/__sandbox/`);
    await page.goto(`${server.controlUrl}/#/instances`);
    await settled(page);
    const json = { organization: "harvest-bank", environment: "test", name: "Made" };
    await ask("/keys", { method: "POST", json, base: `/i/${instance.id}` });
    await page.getByRole("button", { name: "Remove" }).press("Enter");
    await page.getByText(/^This discards 1 request,.* and all other/).waitFor();
    await page.getByText("Its base URL, keys, token and link stop working.").waitFor();
    expect((await ask("/instances")).body.data).toHaveLength(1);
    await page.getByRole("button", { name: "Remove the instance" }).press("Enter");
    await page.getByText("No instances.").waitFor();
    expect((await ask("/instances")).body.data).toEqual([]);
  });

  test("a partner's one is found among 120 and opened in two actions; every page of the list is reached, and errors come first", async () => {
    const { page, ask, go } = await openDashboard();
    for (let number = 1; number <= 120; number++) {
      const { data } = (await ask("/instances", { method: "POST", json: { label: `Partner ${number}` } }))
        .body;
      if (number === 30) await fetch(data.base_url + mePath);
    }
    await go("instances");
    await page.getByText("120 instances").waitFor();
    const names = page.getByRole("region", { name: "List of instances" }).locator("tbody th");
    expect([await names.count(), await names.first().innerText()]).toEqual([50, "Partner 120"]);
    for (const last of ["Partner 21", "Partner 1"]) {
      await page.getByRole("button", { name: "Next" }).click();
      await names.last().getByText(last, { exact: true }).waitFor();
    }
    await page.getByLabel("First").selectOption("most errors");
    await names.first().getByText("Partner 30", { exact: true }).waitFor();
    await page.getByLabel("Search").fill("partner 77");
    await page.getByRole("link", { name: "Partner 77" }).click();
    await page.waitForURL(/\/i\/\w+\/__sandbox\/$/);
    await page.getByRole("link", { name: "Partner 77" }).waitFor();
  });

  test("the list shows a request of an instance without waiting for the next regular reading", async () => {
    const { page, ask, go } = await openDashboard({ context: {} });
    await page.addInitScript(() => {
      const every = setInterval;
      const without = (run: () => void, time: number) => (time === 5000 ? 0 : every(run, time));
      Object.assign(globalThis, { setInterval: without });
    });
    const { base_url } = (await ask("/instances", { method: "POST" })).body.data;
    await page.reload();
    await go("instances");
    await page.getByText("1 instance", { exact: true }).waitFor();
    await fetch(base_url + mePath);
    await page.getByRole("region", { name: "List of instances" }).getByText("401.missing").waitFor();
    await ask("/instances", { method: "POST" });
    await page.getByText("2 instances", { exact: true }).waitFor();
  });

  test("each notice of a new instance stays until it is closed, and leaving the page asks", async () => {
    const { page, go } = await openDashboard({ view: "/instances", context });
    const asks = () => page.evaluate(() => !dispatchEvent(new Event("beforeunload", { cancelable: true })));
    const notices = page.locator(".notice");
    for (const label of ["First", "Second"]) {
      // The form closes over the new instance.
      await page.getByText("Create an instance").click();
      await page.getByLabel("Label").fill(label);
      await page.getByRole("button", { name: "Create the instance" }).click();
      await notices.getByText(label, { exact: true }).waitFor();
    }
    await page.evaluate(() => location.assign("#/keys"));
    await page.getByRole("heading", { name: "Keys and organizations" }).waitFor();
    await page.goBack();
    await notices.nth(1).waitFor();
    expect([await notices.count(), await asks()]).toEqual([2, true]);
    await page.getByRole("button", { name: "Close the notice for First" }).click();
    await page.getByRole("button", { name: "Copy a one-time link" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect([await notices.count(), await asks()]).toEqual([1, false]);
    await page.getByRole("button", { name: "Remove Second" }).click();
    await page.getByRole("button", { name: "Remove the instance" }).click();
    await notices.waitFor({ state: "detached" });
    await go("instances");
  });

  test("the page of an instance that is removed shows that at once, to the second", async () => {
    const { page, ask, server } = await openDashboard({ context: {} });
    const { id, claim_url } = (await ask("/instances", { method: "POST" })).body.data;
    await page.goto("about:blank");
    await page.goto(claim_url);
    await settled(page);
    await ask(`/instances/${id}`, { method: "DELETE" });
    await page
      .getByRole("status")
      .getByText(/removed at [-\dT:]+Z\. Ask/)
      .waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "No sandbox here" }).waitFor();
    expect((await page.locator("main").innerText()).match(/Ask /g)).toHaveLength(1);
    await page.goto(`${server.url}/i/none/__sandbox/`);
    await page.getByText("This address no longer has a sandbox.").waitFor();
  });

  test("a claim link leads to the first request in two clicks, and its token stays in the tab; a lost one gets a new link", async () => {
    const controlToken = "a-token-of-the-test";
    const view = `token=${controlToken}&/instances`;
    const { page, another } = await openDashboard({ controlToken, view, context });
    await page.getByText("Create an instance").click();
    await page.getByLabel("Label").fill("Harvest Bank");
    await page.getByRole("button", { name: "Create the instance" }).click();
    const copied = async (button: string) => {
      // An earlier button may still read "Copied".
      const pressed = await page.getByRole("button", { name: button }).elementHandle();
      await pressed?.click();
      await page.waitForFunction((element) => element?.textContent === "Copied", pressed);
      return page.evaluate(() => navigator.clipboard.readText());
    };
    const first = await copied("Copy a one-time link for a partner");
    const partner = await another();
    const claim = async (link: string) => {
      await partner.goto("about:blank");
      await partner.goto(link);
    };
    await claim(first);
    await partner.getByRole("heading", { name: "Harvest Bank is yours" }).waitFor();
    expect(partner.url()).not.toContain("code=");
    await partner.getByRole("button", { name: "Send it now" }).waitFor();
    const green = partner.locator("main button:not(.quiet, .danger), main .button:not(.quiet)");
    expect(await green.allInnerTexts()).toEqual(["Send a first request"]);
    await partner.getByRole("button", { name: "Download .env" }).waitFor();
    await partner.getByText(/^Show all \d+ variables$/).click();
    const shown = await partner.locator("main").innerText();
    expect(shown).toMatch(/SVC_BASE_URL=http\S+\/i\/\w+\nSVC_KEY_\w+=SVC_/);
    await partner.getByRole("button", { name: "Send a first request" }).click();
    await partner.getByText("Response: 200").waitFor();
    // The link is used up, so a reload must not lose the keys. The panel is closed by its button only.
    await partner.reload();
    await settled(partner);
    await partner.getByRole("heading", { name: "Harvest Bank is yours" }).waitFor();
    await partner.getByRole("button", { name: "Close", exact: true }).click();
    await partner.reload();
    await settled(partner);
    expect(await partner.getByText("is yours").count()).toBe(0);
    await partner.getByRole("button", { name: "Copy key" }).waitFor();
    // The name of the instance does not lead to the page of the operator.
    await partner.getByRole("link", { name: "Harvest Bank" }).click();
    await partner.getByRole("heading", { name: "Overview" }).waitFor();
    await partner.getByRole("button", { name: "Forget the token" }).click();
    await partner.getByRole("button", { name: "Forget it" }).click();
    await partner.getByLabel("Control token").waitFor();
    expect(await partner.evaluate(() => JSON.stringify(sessionStorage))).not.toMatch(/svci_|SVC_/);
    // The token is lost with the tab, and a used link does not work again.
    await partner.evaluate(() => sessionStorage.clear());
    await claim(first);
    await partner.getByRole("alert").getByText("already used").waitFor();
    await page.getByRole("button", { name: "New link Harvest Bank" }).click();
    await page.getByRole("button", { name: "Make a new link" }).click();
    await claim(await copied("Copy the link"));
    await partner.getByRole("heading", { name: "Harvest Bank is yours" }).waitFor();
  });
});
