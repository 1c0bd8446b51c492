import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { settled } from "../../src/sandbox/operations/operations.js";
import { noBrowser } from "../support/chromium-page.js";
import { listening } from "../support/servers.js";
import { keptOf, openDashboard, quiet, viewsOf } from "./open-dashboard.js";

// Who may have the page, and what it keeps.

/** A site of another origin. */
async function serveForeign(html: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end(html);
  });
  return `http://localhost:${await listening(server)}/`;
}

describe.skipIf(noBrowser)("in Chromium", () => {
  test("another origin can neither frame the page, nor read it, nor run its files", async () => {
    const { page, server } = await openDashboard();
    const script = await page.locator("script[src]").getAttribute("src");
    const address = `${server.controlUrl}/`;
    const foreign = await serveForeign(`<iframe src="${address}"></iframe>`);
    const theirs = await page.context().newPage();
    await theirs.goto(foreign);
    expect(theirs.frames().length).toBe(2);
    expect(await theirs.frames()[1]?.evaluate(() => document.body.innerText)).not.toContain("svc-sandbox");
    const tries = await theirs.evaluate(
      async ([page, file]) => {
        const runs = new Promise((resolve) => {
          const element = Object.assign(document.createElement("script"), { type: "module", src: file });
          element.onload = () => resolve("runs");
          element.onerror = () => resolve("rejected");
          document.body.append(element);
        });
        const read = fetch(page as string).then(String, () => "rejected");
        return [await read, await runs];
      },
      [address, new URL(script as string, address).href],
    );
    expect(tries).toEqual(["rejected", "rejected"]);
  });

  test("where a token is needed every view works with it, and it stands in the session's storage alone", async () => {
    const controlToken = "a-token-of-the-test";
    // It has the most views.
    const scenario = "announced-endpoints";
    const { page, go, runtime } = await openDashboard({
      ...{ controlToken, host: "0.0.0.0", scenario, view: `token=${controlToken}` },
    });
    const said: string[] = [];
    const rejected: string[] = [];
    page.on("request", (request) => {
      said.push(`${request.url()} ${request.postData() ?? ""} ${request.headers().referer ?? ""}`);
    });
    page.on("console", (message) => said.push(message.text()));
    page.on("response", (response) => {
      if (response.status() >= 400) rejected.push(`${response.status()} ${response.url()}`);
    });
    for (const view of await viewsOf(page)) {
      await go(view);
      await quiet(page);
      const { session, others } = await keptOf(page);
      expect(session.filter((text) => text.includes(controlToken))).toEqual([controlToken]);
      expect(others, view).not.toContain(controlToken);
    }
    expect(said.length).toBeGreaterThan(10);
    expect([rejected, said.filter((text) => text.includes(controlToken))]).toEqual([[], []]);
    // A write, and what the sandbox holds afterwards.
    const before = settled(runtime).clock.now();
    await go("time");
    await page.getByRole("button", { name: "+1 h" }).click();
    await expect.poll(() => settled(runtime).clock.now() - before).toBe(3_600_000);
  });
});
