import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChromiumPage, noBrowser, openPage } from "../support/chromium-page.js";
import { mePath } from "../support/send.js";
import { served } from "../support/servers.js";

interface PageGlobals {
  readonly callServer: (where: { url: string; key: string }) => Promise<void>;
  readonly callWorker: () => Promise<string[][]>;
}

describe.skipIf(noBrowser !== undefined)("a client in a browser", () => {
  let chromium: ChromiumPage;
  beforeAll(async () => {
    chromium = await openPage(join(import.meta.dirname, "browser-page.js"));
  });
  afterAll(() => chromium.close());

  test("gets advice for a preflight request to send a key, which is all that a server sees", async () => {
    const server = await served();
    const where = { url: server.url, key: server.sandbox.secret("active") };
    await chromium.page.evaluate((to) => (globalThis as unknown as PageGlobals).callServer(to), where);
    expect(server.sandbox.requests.list({ probes: true })).toMatchObject([
      { method: "OPTIONS", path: mePath, advice: ["key-from-browser"] },
      { method: "GET", path: mePath, advice: ["key-in-query", "key-from-browser"] },
      { method: "GET", path: "/favicon.ico", advice: [] },
    ]);
  });

  test("gets advice through msw's service worker, but not for a test's call of the sandbox", async () => {
    const [throughWorker, ofTest] = await chromium.page.evaluate(() =>
      (globalThis as unknown as PageGlobals).callWorker(),
    );
    expect(throughWorker).toEqual(["key-from-browser"]);
    expect(ofTest).toEqual([]);
  });
});
