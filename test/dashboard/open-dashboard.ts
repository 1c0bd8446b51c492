import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContextOptions, Page, Request } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import type { ServerOptions } from "../../src/server/index.js";
import { type ServedControl, serveControl } from "../control/client.js";
import { takePage } from "../support/chromium-page.js";
import { mePath } from "../support/send.js";

const built = join(import.meta.dirname, "../../dist/dashboard/index.html");

/** A page of the dashboard, and the sandbox that it shows. */
export interface Dashboard extends ServedControl {
  readonly page: Page;
  /** Shows another view: `go("keys/active")`. */
  readonly go: (view: string) => Promise<void>;
  /** Sends requests of a client with these keys, one after the other. */
  readonly send: (...refs: string[]) => Promise<void>;
  /** Opens one more page of the same sandbox, in its own browser profile. */
  readonly another: (context?: BrowserContextOptions) => Promise<Page>;
}

/** The options of the server, the view to begin with and the browser's. */
export interface DashboardOptions extends ServerOptions {
  /** The fragment of the address. Default: the overview. */
  readonly view?: string;
  /** Whether the page is to be waited for. Default: true. */
  readonly settles?: boolean;
  readonly context?: BrowserContextOptions;
}

/**
 * Serves a sandbox (frozen unless told otherwise) and opens its dashboard in Chromium until the test is over. The test
 * fails when the page throws, breaks its own policy or asks another host.
 */
export async function openDashboard(options: DashboardOptions = {}): Promise<Dashboard> {
  if (!existsSync(built)) throw new Error("The dashboard is not built: run `npm run build`.");
  const { view = "/", context, settles = true, ...served } = options;
  const control = await serveControl(served);
  const address = `${control.server.controlUrl}/#${view}`;
  const another = async (more?: BrowserContextOptions) => {
    const opened = await openPage(address, more);
    if (settles) await settled(opened);
    return opened;
  };
  const page = await another(context);
  return {
    ...control,
    page,
    another,
    async send(...refs) {
      const { url, sandbox } = control.server;
      for (const ref of refs) {
        await (await fetch(url + mePath, { headers: { "x-api-key": sandbox.secret(ref) } })).text();
      }
    },
    async go(next) {
      await page.goto(`${control.server.controlUrl}/#/${next}`);
      await settled(page);
    },
  };
}

async function openPage(address: string, options?: BrowserContextOptions): Promise<Page> {
  const page = await takePage({ permissions: ["clipboard-read", "clipboard-write"], ...options });
  noteCalls(page);
  const wrong: string[] = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => {
    // The browser reports rejected calls and a server that is gone, which tests cause on purpose.
    const isNetwork = /Failed to load resource|net::ERR_/.test(message.text());
    if (message.type() === "error" && !isNetwork) wrong.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(new URL(address).origin)) wrong.push(`asked ${request.url()}`);
  });
  onTestFinished(() => expect(wrong).toEqual([]));
  await page.goto(address);
  return page;
}

/** Waits until the page follows the sandbox, its view is drawn and has read all that it shows. */
export async function settled(page: Page): Promise<void> {
  await page.locator(".connection.open").waitFor();
  await page.locator("main h1").waitFor();
  await quiet(page);
}

/** The calls of a page that are under way. */
const underWay = new WeakMap<Page, Set<Request>>();

function noteCalls(page: Page): void {
  const calls = new Set<Request>();
  underWay.set(page, calls);
  page.on("request", (request) => calls.add(request));
  page.on("requestfinished", (request) => calls.delete(request));
  page.on("requestfailed", (request) => calls.delete(request));
}

/** Waits until the view has read all that it shows. */
export async function quiet(page: Page): Promise<void> {
  // A view that is loaded asks for more once it is drawn.
  for (let turns = 0; turns < 3; ) {
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    turns = underWay.get(page)?.size === 0 ? turns + 1 : 0;
  }
}

/** The fragment of a page's address, of which the browser tells some time after a change. */
export const hashOf = (page: Page) => new URL(page.url()).hash;

export const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

/** Everything that a page holds, and the browser keeps for it: the session's storage, and all others. */
export async function keptOf(page: Page) {
  const others = await page.evaluate(async () => [
    document.documentElement.outerHTML,
    ...[...document.querySelectorAll("input, textarea")].map((input) => (input as HTMLInputElement).value),
    ...Object.values(localStorage),
    document.cookie,
    JSON.stringify(history.state),
    window.name,
    ...performance.getEntriesByType("resource").map(({ name }) => name),
    ...(await caches.keys()),
    ...(await indexedDB.databases()).map(({ name }) => name),
    ...(await navigator.serviceWorker.getRegistrations()).map(({ scope }) => scope),
  ]);
  const session: string[] = await page.evaluate(() => Object.values(sessionStorage));
  return { session, others: [page.url(), ...others].join("\n") };
}

/** The names of all views that the navigation leads to. */
export async function viewsOf(page: Page): Promise<string[]> {
  const links = page.locator(".views a");
  await links.nth(1).waitFor();
  return links.evaluateAll((all) => all.map((link) => (link.getAttribute("href") ?? "").slice(2)));
}
