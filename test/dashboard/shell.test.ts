import { describe, expect, onTestFinished, test } from "vitest";
import { noBrowser, takePage } from "../support/chromium-page.js";
import { noRedis, startRedis } from "../support/redis-server.js";
import { startReplica } from "../support/replicas.js";
import { mePath } from "../support/send.js";
import { openDashboard, quiet, settled, viewsOf } from "./open-dashboard.js";

describe.skipIf(noBrowser)("the frame of the page", () => {
  test("a view loads at most 80 kB, and reads nothing twice; only the one with the journal reads that", async () => {
    const { page, server } = await openDashboard({ scenario: "key-states" });
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    await session.send("Network.setCacheDisabled", { cacheDisabled: true });
    const urls = new Map<string, string>();
    let bytes = 0;
    session.on("Network.requestWillBeSent", ({ requestId, request }) => urls.set(requestId, request.url));
    session.on("Network.loadingFinished", ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    for (const view of await viewsOf(page)) {
      await page.goto("about:blank");
      urls.clear();
      bytes = 0;
      await page.goto(`${server.controlUrl}/#/${view}`);
      await settled(page);
      await quiet(page);
      const asked = [...urls.values()].map((url) => url.slice(server.controlUrl?.length));
      expect(asked.length, view).toBeGreaterThan(8);
      expect(new Set(asked).size, `${view}: ${asked.join(" ")}`).toBe(asked.length);
      expect(asked.includes("/requests"), view).toBe(view === "requests");
      expect(bytes, view).toBeGreaterThan(20_000);
      expect(bytes, view).toBeLessThanOrEqual(80_000);
    }
  });

  test("a link with the token leads to a view, also in a page that is open", async () => {
    const controlToken = "a-token-of-the-test";
    const { page } = await openDashboard({ controlToken, settles: false });
    await page.getByLabel("Control token").waitFor();
    await page.evaluate((token) => location.assign(`#token=${token}&/nothing`), controlToken);
    await settled(page);
    expect(page.url()).toMatch(/#\/nothing$/);
    await page.getByText("No view is called “nothing”").waitFor();
  });

  test("without the token it asks for one, and says when it is another one", async () => {
    const { page } = await openDashboard({ controlToken: "a-token-of-the-test", settles: false });
    await page.getByLabel("Control token").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    // The field has the focus, again after a rejection.
    await page.keyboard.type("another token");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("rejected this token").waitFor();
    await page.keyboard.type("a-token-of-the-test");
    await page.keyboard.press("Enter");
    await settled(page);
  });

  test.skipIf(noRedis)("a store that is gone is shown as a dead server, and so is its return", async () => {
    const redis = await startRedis();
    const replica = await startReplica(redis.url, "key-states");
    onTestFinished(async () => {
      await replica.close(0);
      await redis.close();
    });
    const page = await takePage();
    await page.goto(`${replica.url}/__sandbox/`);
    await settled(page);
    await page.getByRole("button", { name: "Send it now" }).first().waitFor();
    await redis.crash();
    await page.getByRole("status").getByText("The store cannot be reached.").waitFor();
    expect(await page.locator(".connection").innerText()).toBe("not connected");
    expect(await page.getByRole("button", { name: "Send it now" }).first().isDisabled()).toBe(true);
    await redis.restart();
    await settled(page);
    expect(await page.getByText("The store cannot be reached.").count()).toBe(0);
  });

  test("a server that hangs is shown within twelve seconds, and the clock stops", async () => {
    const { page } = await openDashboard({ frozen: false, context: {} });
    // In a profile of its own, which ends with its clock.
    await page.clock.install();
    await page.addInitScript(() => {
      const ask = fetch;
      globalThis.fetch = async (url, options) => {
        if (!String(url).endsWith("/events")) return ask(url, options);
        if (Object.hasOwn(globalThis, "beat")) return new Promise(() => {});
        const start = (stream: ReadableStreamDefaultController<Uint8Array>) => {
          const beat = () => stream.enqueue(new TextEncoder().encode(": still here\n\n"));
          Object.assign(globalThis, { beat });
        };
        return new Response(new ReadableStream({ start }));
      };
    });
    await page.reload();
    await settled(page);
    const clock = page.locator(".clock time");
    const time = async () => Date.parse((await clock.getAttribute("datetime")) ?? "");
    const started = await time();
    for (let beats = 0; beats < 4; beats++) {
      await page.clock.runFor(5000);
      await page.evaluate("beat()");
      expect(await page.locator(".connection").innerText()).toBe("live");
    }
    expect((await time()) - started).toBeGreaterThan(18_000);
    await page.clock.runFor(12_000);
    await page.locator(".connection", { hasText: "not connected" }).waitFor();
    await page.getByRole("status").getByText("The sandbox does not").waitFor();
    const stopped = await time();
    await page.clock.runFor(20_000);
    expect(await time()).toBe(stopped);
  });

  test("every view's header shows what is set in the sandbox, and links to where it is changed", async () => {
    const dashboard = await openDashboard({ frozen: false });
    const { page, ask, go, server } = dashboard;
    const chips = page.locator(".chips a");
    await quiet(page);
    expect(await chips.allInnerTexts()).toEqual([]);
    await ask("/clock", { method: "PUT", json: { frozen: true } });
    await ask("/assumptions", { method: "PUT", json: { profile: "typical" } });
    await ask("/faults", { method: "PUT", json: { faults: [{ then: { reset: true } }] } });
    await go("keys");
    await page.getByLabel("Acting as").selectOption("member");
    const changedAt = {
      "1 fault active": "Faults and assumptions",
      "profile typical": "Faults and assumptions",
      "acting as member": "Keys and organizations",
      "clock frozen": "Time",
    };
    for (const view of await viewsOf(page)) {
      await go(view);
      await expect.poll(() => chips.allInnerTexts(), { message: view }).toEqual(Object.keys(changedAt));
    }
    for (const [words, heading] of Object.entries(changedAt)) {
      await page.getByRole("link", { name: words, exact: true }).click();
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
    }
    const { id } = (await ask("/instances", { method: "POST" })).body.data;
    await page.goto(`${server.url}/i/${id}/__sandbox/`);
    // Its page is distinguished by color and title, and has no view of instances.
    const edge = () => page.locator(".page-header").evaluate((one) => getComputedStyle(one).borderTopWidth);
    expect([await page.title(), await edge()]).toEqual([`Overview · instance ${id} · svc-sandbox`, "4px"]);
    expect(await viewsOf(page)).not.toContain("instances");
    await page.getByRole("link", { name: `instance ${id}`, exact: true }).click();
    await page.waitForURL(`${server.controlUrl}/#/instances`);
    await page.getByRole("link", { name: id, exact: true }).waitFor();
    expect([await page.title(), await edge()]).toEqual(["Instances · svc-sandbox", "0px"]);
  });

  test("the dashboard leads to the docs: to all of them, to a path and to an advice", async () => {
    const { page, go, server } = await openDashboard({ scenario: "key-states" });
    const headers = { "x-api-key": server.sandbox.secret("revoked") };
    await fetch(server.url + mePath, { headers });
    await fetch(`${server.url}${mePath}?key=${server.sandbox.secret("active")}`, { headers });
    const follow = async (link: ReturnType<typeof page.getByRole>, heading: string) => {
      const [docs] = await Promise.all([page.waitForEvent("popup"), link.first().click()]);
      // The place of an address may be far below the heading.
      await docs.waitForLoadState("load");
      const target = docs.locator(":target");
      expect(await ((await target.count()) > 0 ? target : docs.locator("h1")).innerText()).toContain(heading);
    };
    await follow(page.getByRole("link", { name: "Docs" }), "Documentation");
    await go("overview");
    await page.locator("summary", { hasText: "key-in-query" }).click();
    await follow(page.getByRole("link", { name: "key-in-query" }), "key-in-query");
    await go("overview/401.revoked");
    await follow(page.locator(".exit-detail").getByRole("link", { name: "401.revoked" }), "401.revoked");
  });
});
