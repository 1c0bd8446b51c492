import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { bundle } from "./bundle.js";
import { missing, programPath } from "./programs.js";

const root = join(import.meta.dirname, "../..");

export const noBrowser = missing("chromium");

/** Switches off what only people need, and what would ask other hosts. */
export const chromiumFlags = ["gpu", "quic", "background-networking", "component-update", "sync"].map(
  (one) => `--disable-${one}`,
);

let launched: Promise<Browser> | undefined;

/** The browser of all test files that run in this process; it ends with the process. */
function theBrowser(): Promise<Browser> {
  launched ??= chromium.launch({
    executablePath: programPath("chromium"),
    chromiumSandbox: false,
    args: ["--no-first-run", ...chromiumFlags],
  });
  return launched;
}

const desk = { width: 1280, height: 900 };

/** An empty page of a profile that it shares with no other page, until the test is over. */
export async function takePage(options?: BrowserContextOptions): Promise<Page> {
  const page = await newPage(options);
  onTestFinished(() => page.context().close());
  return page;
}

async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await (await theBrowser()).newContext({ viewport: desk, ...options });
  // As patient as the tests are.
  context.setDefaultTimeout(60_000);
  return context.newPage();
}

/** A page of a Chromium with a new and empty profile. */
export interface ChromiumPage {
  readonly page: Page;
  readonly close: () => Promise<void>;
}

/**
 * Opens a page that runs a module, bundled as a partner's bundler does it, so that what only Node has is an error, on a site that has msw's service worker. Waits until the
 * module has set `globalThis.ready`; throws what it throws.
 */
export async function openPage(module: string): Promise<ChromiumPage> {
  const site = await serveSite({
    "/": ["text/html", '<!doctype html><script type="module" src="/page.js"></script>'],
    "/page.js": ["text/javascript", await bundle(module)],
    "/mockServiceWorker.js": [
      "text/javascript",
      await readFile(join(root, "node_modules/msw/lib/mockServiceWorker.js"), "utf8"),
    ],
  });
  let page: Page | undefined;
  const close = async () => {
    await page?.context().close();
    await site.close();
  };
  try {
    page = await newPage();
    const broken = new Promise<never>((_resolve, reject) => page?.on("pageerror", reject));
    await page.goto(site.url);
    await Promise.race([page.waitForFunction("globalThis.ready"), broken]);
    return { page, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function serveSite(files: Readonly<Record<string, readonly [type: string, text: string]>>) {
  const server = createServer((request, response) => {
    const [type, text] = files[request.url ?? "/"] ?? [];
    response.writeHead(text === undefined ? 404 : 200, { "content-type": type ?? "text/plain" });
    response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
