import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { noBrowser } from "../support/chromium-page.js";
import { mePath } from "../support/send.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { hashOf, openDashboard, quiet, settled, viewsOf } from "./open-dashboard.js";

const named = `
version: 1
name: My bank
organizations: { b: { type: bank, keys: { main: { environment: test } } } }
`.trimStart();

describe.skipIf(noBrowser)("the frame of the page", () => {
  test("a view loads at most 60 kB, and reads nothing twice; only the one with the journal reads that", async () => {
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
      const control = `${server.controlUrl}/`;
      const asked = [...urls.values()]
        .filter((url) => !url.includes("/assets/"))
        .map((url) => url.replace(control, "/"));
      const reading = asked.filter((path) => path !== "/revision" && path !== "/");
      expect(reading.length, view).toBeGreaterThan(5);
      expect(new Set(reading).size, `${view}: ${reading.join(" ")}`).toBe(reading.length);
      expect(reading.includes("/requests"), view).toBe(view === "requests");
      expect(bytes, view).toBeGreaterThan(20_000);
      expect(bytes, view).toBeLessThanOrEqual(60_000);
    }
  });

  test("without the token it asks for one, and says when it is another one; a link has it, also for a page that is open", async () => {
    const { page } = await openDashboard({ controlToken: "a-token-of-the-test", settles: false });
    await page.getByLabel("Control token").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    // The field has the focus, again after a rejection.
    await page.keyboard.type("another token");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("rejected this token").waitFor();
    await page.evaluate(() => location.assign("#token=a-token-of-the-test&/keys"));
    await settled(page);
    await expect.poll(() => hashOf(page)).toBe("#/keys");
    await page.getByRole("heading", { name: "Keys", exact: true }).waitFor();
  });

  test.each(["throws", "is null"])(
    "where the browser blocks site data, so that its storage %s, the page keeps the token",
    async (how) => {
      const { page, server } = await openDashboard({ controlToken: "secret-token", settles: false });
      await page.addInitScript((how) => {
        const get = () => {
          if (how === "throws") throw new DOMException("Access is denied", "SecurityError");
          return null;
        };
        for (const name of ["sessionStorage", "localStorage"]) Object.defineProperty(window, name, { get });
      }, how);
      await page.goto(`${server.controlUrl}/?blocked#token=secret-token&/keys`);
      await settled(page);
      await page.getByRole("link", { name: "Sandbox", exact: true }).click();
      await page.getByRole("button", { name: "+1 h" }).press("Enter");
      await page.locator("#section-clock .figure", { hasText: "10:00:00" }).waitFor();
    },
  );

  test("a link whose token is no encoded text asks for the token", async () => {
    const { page } = await openDashboard({
      controlToken: "a-token-of-the-test",
      settles: false,
      view: "token=50%",
    });
    await page.getByLabel("Control token").waitFor();
    await page.getByRole("alert").getByText("rejected this token").waitFor();
  });

  test("a token that no header can have brings the form back, also after a reload", async () => {
    const { page } = await openDashboard({
      controlToken: "a-token-of-the-test",
      settles: false,
      view: "token=a-tok…",
    });
    await page.getByRole("alert").getByText("rejected this token").waitFor();
    await page.reload();
    await page.getByRole("alert").getByText("rejected this token").waitFor();
    await page.getByLabel("Control token").fill("a-token-of-the-test");
    await page.getByRole("button", { name: "Continue" }).click();
    await settled(page);
  });

  test.each([
    ["a page of a proxy", { contentType: "text/html", body: "<!doctype html><p>Sign in" }, "Sign in"],
    ["JSON of something else", { contentType: "application/json", body: "{}" }, "Another server responds"],
  ])("in place of the sandbox, %s is told, and nothing else breaks", async (_, response, words) => {
    const { page } = await openDashboard({ scenario: "key-states" });
    await page.route("**/__sandbox/revision", (route) => route.fulfill({ status: 200, ...response }));
    await page.locator(".connection", { hasText: "not connected" }).waitFor();
    await page.locator("main").getByText(words).waitFor();
    expect(await page.locator(".active-faults").count()).toBe(0);
    await page.unroute("**/__sandbox/revision");
    await settled(page);
  });

  test("one request of a client makes the page read each path once", async () => {
    const { page, send } = await openDashboard({ scenario: "key-states", view: "/keys" });
    const read: string[] = [];
    page.on("request", (request) => {
      if (!request.url().endsWith("/revision")) read.push(request.url());
    });
    await send("active");
    await page.locator("[data-row=active]").getByText("1 of 60").waitFor();
    await quiet(page);
    expect(read.length).toBeGreaterThan(5);
    expect(read.toSorted()).toEqual([...new Set(read)].toSorted());
  });

  test("a server that hangs is shown within twelve seconds, and the clock stops", async () => {
    const { page } = await openDashboard({ frozen: false, context: {} });
    // In a profile of its own, which ends with its clock.
    await page.clock.install();
    await page.addInitScript(() => {
      const ask = fetch;
      globalThis.fetch = async (url, options) => {
        if (!Object.hasOwn(globalThis, "hangs")) return ask(url, options);
        return new Promise((_, reject) => options?.signal?.addEventListener("abort", reject));
      };
    });
    await page.reload();
    await settled(page);
    const clock = page.locator(".clock time");
    const time = async () => Date.parse((await clock.getAttribute("datetime")) ?? "");
    const started = await time();
    for (let seconds = 0; seconds < 20; seconds++) {
      await page.clock.runFor(1000);
      // The response comes over the real network.
      await quiet(page);
    }
    expect(await page.locator(".connection").innerText()).toBe("connected");
    expect((await time()) - started).toBeGreaterThan(18_000);
    await page.evaluate("globalThis.hangs = true");
    await page.clock.runFor(12_000);
    await page.locator(".connection", { hasText: "not connected" }).waitFor();
    await page.getByRole("status").getByText("The sandbox does not").waitFor();
    const stopped = await time();
    await page.clock.runFor(20_000);
    expect(await time()).toBe(stopped);
  });

  test("a change is shown within a second and a half; a hidden tab asks nothing, and is up to date once it is visible", async () => {
    const { page, ask } = await openDashboard({ context: {} });
    await page.clock.install();
    await page.reload();
    await settled(page);
    const move = () => ask("/clock/advance", { method: "POST", json: { by: "1d" } });
    await move();
    await page.clock.runFor(1050);
    await page.locator(".clock").getByText("3 Mar 2026").waitFor();
    await quiet(page);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    const setHidden = (isHidden: boolean) =>
      page.evaluate((to) => {
        Object.defineProperty(document, "hidden", { value: to, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, isHidden);
    await setHidden(true);
    await quiet(page);
    asked.length = 0;
    await move();
    await page.clock.runFor(60_000);
    await quiet(page);
    expect(asked).toEqual([]);
    await setHidden(false);
    await page.locator(".clock").getByText("4 Mar 2026").waitFor();
  });

  test.each([360, 800, 1280, 1600])("at %i pixels the clock is one line in its column", async (width) => {
    const { page } = await openDashboard({ now: "2026-11-28T20:48:58Z" });
    await page.setViewportSize({ width, height: 900 });
    const clock = page.locator(".clock");
    await clock.getByText("28 Nov 2026, 20:48:58 UTC").waitFor();
    const column = (await page.getByRole("navigation").boundingBox()) as { x: number; width: number };
    const { lines, right } = await clock.evaluate((link) => {
      const text = document.createRange();
      text.selectNodeContents(link);
      const tops = new Set([...text.getClientRects()].map(({ top }) => Math.round(top)));
      return { lines: tops.size, right: text.getBoundingClientRect().right };
    });
    expect(lines).toBe(1);
    expect(right).toBeLessThan(column.x + column.width);
  });

  test("with a fault, the header is one line from 768 pixels on, and two below", async () => {
    const { page, ask } = await openDashboard({ scenario: "key-states" });
    await ask("/faults", { method: "PUT", json: { faults: [{ then: { status: 503 } }] } });
    await page.locator(".active-faults").waitFor();
    for (const width of [480, 600, 768, 900]) {
      await page.setViewportSize({ width, height: 900 });
      const { height } = (await page.getByRole("banner").boundingBox()) ?? {};
      expect(height, `${width} pixels`).toBeLessThan(width < 768 ? 100 : 60);
    }
  });

  test("where the button of an action leaves with it, the part around it has the focus", async () => {
    const { page, ask, go } = await openDashboard({ scenario: "key-states", view: "/keys/active" });
    const faults = [{ then: { latency: "1ms" } }, { then: { latency: "2ms" } }];
    await ask("/faults", { method: "PUT", json: { faults } });
    await page.getByRole("button", { name: "Revoke…" }).press("Enter");
    await page.getByRole("button", { name: "Revoke the key" }).press("Enter");
    await page.locator(".row-detail:focus").waitFor();
    await go("sandbox");
    await page.getByRole("button", { name: /1ms late/ }).press("Enter");
    await page.locator("#section-faults :focus", { hasText: "2ms late" }).press("Enter");
    await page.locator("#section-faults:focus").waitFor();
    await page.getByRole("button", { name: "Load expired" }).press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Load expired" }).press("Enter");
    await page.locator(".running a", { hasText: "expired" }).waitFor();
    await page.locator("#section-scenario :focus").waitFor();
  });

  test("the header has the scenario's name, not the path of its file, and the profile; it stays at the top", async () => {
    const file = join(temporaryFolder({ "folder/my.yaml": named }), "folder/my.yaml");
    const { page, send, go } = await openDashboard({ scenario: file, profile: "varied" });
    const header = page.getByRole("banner");
    await header.getByText("My bank", { exact: true }).waitFor();
    await header.getByRole("link", { name: "profile varied" }).waitFor();
    expect(await header.innerText()).not.toContain("my.yaml");
    await send(...Array<string>(40).fill("main"));
    await go("requests");
    await page.locator(".requests a").nth(30).click();
    await page.locator(".detail").waitFor();
    await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(100);
    expect((await header.boundingBox())?.y).toBe(0);
  });

  test("a scenario without a name is shown by its file, and downloads have its name", async () => {
    const file = join(
      temporaryFolder({ "a folder/my.yaml": named.replace("name: My bank\n", "") }),
      "a folder/my.yaml",
    );
    const { page, go } = await openDashboard({ scenario: file });
    await page.getByRole("banner").getByText("my.yaml", { exact: true }).waitFor();
    const nameOf = async (button: string) => {
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: button, exact: true }).click();
      return (await download).suggestedFilename();
    };
    expect(await nameOf("JUnit")).toBe("report-my.xml");
    await go("sandbox");
    expect(await nameOf("Download")).toBe("my.yaml");
  });

  test.each([
    ["keys/active", "Revoke…", "Revoke the key"],
    ["sandbox", "Reset…", "Reset it"],
  ])("in %s, Enter does not confirm %s: Cancel has the focus", async (view, button, action) => {
    const { page, ask } = await openDashboard({ scenario: "key-states", view: `/${view}` });
    await page.getByRole("button", { name: button }).press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: action }).waitFor();
    await dialog.locator(":focus", { hasText: "Cancel" }).waitFor();
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect((await ask("/state")).body.data.changed).toBe(false);
  });

  test("an open dialog shows that the server is gone", async () => {
    const { page, server } = await openDashboard({ scenario: "key-states", view: "/keys/active" });
    await page.getByRole("button", { name: "Revoke…" }).click();
    await server.close(0);
    await page.getByRole("dialog").getByText("The sandbox does not respond.").waitFor();
  });

  test("at 390 pixels the current view's mark is below its name", async () => {
    const { page } = await openDashboard({ context: { viewport: { width: 390, height: 844 } } });
    const borders = await page.locator(".views [aria-current]").evaluate((link) => {
      const { borderBottomWidth, borderRightWidth } = getComputedStyle(link);
      return [borderBottomWidth, borderRightWidth];
    });
    expect(borders).toEqual(["3px", "0px"]);
  });

  test.each([
    ["overview", 0],
    ["overview", 1],
    ["sandbox", 0],
  ])("in %s, after %i rejections, panels next to each other end together", async (view, rejections) => {
    const { page, server, go } = await openDashboard({ scenario: "key-states" });
    if (rejections > 0) await fetch(server.url + mePath);
    await go(view);
    const holes = await page.evaluate(() => {
      const panels = [...document.querySelectorAll("main .panel")].map((one) => one.getBoundingClientRect());
      const isCovered = (x: number, y: number) =>
        panels.some(({ left, right, top, bottom }) => left <= x && x <= right && top <= y && y <= bottom);
      const start = Math.min(...panels.map(({ top }) => top));
      const end = Math.max(...panels.map(({ bottom }) => bottom));
      const found: number[] = [];
      for (let y = start + 1; y < end; y += 4) {
        // Between two rows, both sides are empty.
        if (isCovered(400, y) !== isCovered(1200, y)) found.push(y);
      }
      return found.length * 4;
    });
    // The gaps of a side with two panels.
    expect(holes).toBeLessThan(40);
  });

  test("without a server, no number is shown that was not read, and no action is offered", async () => {
    const { page, server } = await openDashboard({ scenario: "key-states" });
    await server.close(0);
    await page.locator(".connection", { hasText: "not connected" }).waitFor();
    await page.getByRole("link", { name: "Keys", exact: true }).click();
    await page.getByRole("button", { name: "Create a key", disabled: true }).waitFor();
    expect(await page.locator("main").innerText()).not.toMatch(/\d+ keys?/);
  });

  test.each([
    ["overview", "Copy URL", /^http:/],
    ["keys", "Copy of active", /^SVC_test_/],
    ["keys/active", "Copy of active", /^SVC_test_/],
    ["requests/…", "Copy for support", /^GET /],
  ])(
    "in %s, %s shows the text to copy by keyboard where the browser forbids the clipboard",
    async (view, name, copies) => {
      const { page, send, go, ask } = await openDashboard({ scenario: "key-states" });
      // As over plain HTTP from another machine.
      await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
      await page.reload();
      await send("active");
      const [{ id }] = (await ask("/requests")).body.data;
      await go(view.replace("…", id));
      const before = hashOf(page);
      const shown: string[] = [];
      page.on("dialog", (dialog) => {
        shown.push(dialog.message(), dialog.defaultValue());
        return dialog.dismiss();
      });
      await page.getByRole("button", { name }).press("Enter");
      await expect.poll(() => shown).toEqual(["Press Ctrl+C", expect.stringMatching(copies)]);
      expect(hashOf(page)).toBe(before);
    },
  );

  test("a server that is back after 20 seconds is shown within three", async () => {
    const { page } = await openDashboard({ context: {} });
    await page.clock.install();
    await page.reload();
    await settled(page);
    const runFor = async (milliseconds: number) => {
      for (let passed = 0; passed < milliseconds; passed += 1000) {
        await page.clock.runFor(1000);
        // A question ends before the next pause starts.
        await quiet(page);
      }
    };
    await page.route("**/__sandbox/**", (route) => route.abort());
    await runFor(20_000);
    const connection = page.locator(".connection");
    expect(await connection.innerText()).toBe("not connected");
    await page.unroute("**/__sandbox/**");
    await runFor(3000);
    expect(await connection.innerText()).toBe("connected");
  });

  test.each([
    ["story", (page: Page) => page.keyboard.press("Space")],
    ["sandbox", (page: Page) => page.getByRole("button", { name: "+1 h" }).click()],
    ["sandbox", (page: Page) => page.getByRole("button", { name: "Status 503" }).click()],
  ])(
    "in the view %s, a server that was gone for an action is not called gone once it is back",
    async (view, act) => {
      const { page } = await openDashboard({ scenario: "rotation", view: `/${view}` });
      let goAway = () => {};
      const isGone = new Promise<void>((resolve) => {
        goAway = resolve;
      });
      // Only after the action: a page that has noticed it disables the button.
      await page.route("**/__sandbox/**", async (route) => {
        await isGone;
        await route.abort();
      });
      await act(page);
      goAway();
      const alert = page.getByRole("alert").getByText("The sandbox does not respond.");
      await alert.waitFor();
      await page.unroute("**/__sandbox/**");
      await page.locator(".connection.open").waitFor();
      await alert.waitFor({ state: "detached" });
      expect(await page.getByRole("status").count()).toBe(1);
    },
  );

  test.each(["Sandbox", "Requests"])(
    "without a server, %s reads nothing, and shows that it is not connected",
    async (title) => {
      const { page, server } = await openDashboard({ scenario: "rotation" });
      await server.close(0);
      await page.locator(".connection", { hasText: "not connected" }).waitFor();
      await page.getByRole("link", { name: title, exact: true }).click();
      await page.evaluate(() => location.assign(location.hash.replace("requests", "requests/req_1")));
      await page.locator("main").getByText("Not connected.").first().waitFor();
      expect(await page.getByText("Reading…").count()).toBe(0);
    },
  );

  test("readers with their own colors see which view is the current one, and which key is open", async () => {
    const { page } = await openDashboard({ view: "/keys/active", context: { forcedColors: "active" } });
    await page.locator(".row-detail").waitFor();
    const marked = (selector: string) =>
      page
        .locator(selector)
        .evaluateAll((all) =>
          all
            .filter((element) => Number.parseFloat(getComputedStyle(element).borderInlineEndWidth) > 1)
            .map((element) => element.firstChild?.textContent),
        );
    expect(await marked(".views a")).toEqual(["Keys"]);
    expect(await marked("[data-row]")).toEqual(["active"]);
  });

  test("every view's header shows active faults, which it turns off, and the settings, with links to them", async () => {
    const { page, ask, go } = await openDashboard({ scenario: "key-states", frozen: false });
    await ask("/reset", { method: "POST", json: { profile: "typical", frozen: true } });
    await ask("/faults", {
      method: "PUT",
      json: { faults: [{ then: { status: 503 } }, { then: { reset: true } }] },
    });
    await go("keys");
    const header = page.getByRole("banner");
    await header.getByRole("link", { name: "2 faults active" }).waitFor();
    await header.getByRole("button", { name: "Turn off" }).press("Enter");
    await header.getByRole("link", { name: "2 faults active" }).waitFor({ state: "detached" });
    expect((await ask("/faults")).body.data).toEqual([]);
    for (const [words, heading] of [
      ["clock frozen", "Clock"],
      ["profile typical", "Profile"],
    ] as const) {
      await page.getByRole("link", { name: words, exact: true }).click();
      await page.getByRole("heading", { name: heading, exact: true }).waitFor();
    }
  });
});
