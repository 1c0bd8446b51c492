import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, type CDPSession, chromium, type Page } from "playwright-core";
import { stringify } from "yaml";
import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import { type ClientChild, type ServerChild, startClient, startServer } from "./children.js";
import { startCommand } from "./command.js";
import { type Figure, figureOf } from "./figure.js";
import { alternate } from "./rounds.js";
import { benchScenario } from "./scenario.js";

const chromiumPath = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
const views = ["overview", "requests", "report"];

/** The page of the dashboard while clients send 20,000 requests in ten seconds, and what it costs them. */
export async function measureDashboard({ node, quick }: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  if (!existsSync(chromiumPath)) {
    console.error(`there is no ${chromiumPath}, so the dashboard is left out; set CHROMIUM_PATH.`);
    return [];
  }
  const file = join(bundle.folder, "dashboard.yaml");
  await writeFile(file, stringify(benchScenario(10)));
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ["--disable-gpu"] });
  const client = startClient(bundle.client);
  try {
    const figures: Figure[] = [];
    for (const view of views) {
      const server = await startCommand(node, file);
      figures.push(...(await measureView(browser, client, server, { view, seconds: quick ? 2 : 10 })));
      await server.stop();
    }
    figures.push(await measureDrawing(browser, bundle, { node, quick, file }));
    return [...figures, await measureThroughput(browser, bundle, { node, quick, file })];
  } finally {
    await client.stop();
    await browser.close();
  }
}

/** The longest task of the page, and what stays in its memory. */
async function measureView(
  browser: Browser,
  client: ClientChild,
  server: ServerChild,
  { view, seconds }: { readonly view: string; readonly seconds: number },
): Promise<Figure[]> {
  const page = await openView(browser, server, view);
  const session = await page.context().newCDPSession(page);
  // The journal is full, and the code is compiled.
  await flood(client, server, 1);
  await page.evaluate(() => {
    const seen = globalThis as typeof globalThis & { longest: number };
    seen.longest = 0;
    new PerformanceObserver((list) => {
      seen.longest = Math.max(seen.longest, ...list.getEntries().map(({ duration }) => duration));
    }).observe({ type: "longtask" });
  });
  const before = await memoryOf(session);
  await flood(client, server, seconds);
  const longest = await page.evaluate(() => (globalThis as typeof globalThis & { longest: number }).longest);
  const after = await memoryOf(session);
  await page.close();
  return [
    figureOf(`${view}: longest task at 2,000 requests a second / 200 ms`, [longest / 200], { atMost: 1 }),
    figureOf(`${view}: memory of the page after / before`, [after / before], { atMost: 1.2 }),
  ];
}

/** 2,000 requests a second, 200 at once. */
async function flood(client: ClientChild, { port, keys }: ServerChild, seconds: number): Promise<void> {
  const start = performance.now();
  for (let sent = 0; sent < seconds * 10; sent++) {
    const rest = start + sent * 100 - performance.now();
    if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
    await client.load({ port, connections: 8, keys, requests: 200 });
  }
}

async function memoryOf(session: CDPSession): Promise<number> {
  await session.send("HeapProfiler.collectGarbage");
  return (await session.send("Runtime.getHeapUsage")).usedSize;
}

async function openView(browser: Browser, { port }: ServerChild, view: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(`http://127.0.0.1:${port}/__sandbox/#/${view}`);
  await page.locator(".connection.open").waitFor();
  return page;
}

interface Measured extends Pick<BenchArguments, "node" | "quick"> {
  readonly file: string;
}

/** From the navigation to the drawn overview, against a page that is nothing but a heading. */
async function measureDrawing(browser: Browser, bundle: Bundle, { node, quick, file }: Measured) {
  const body = "<!doctype html><title>empty</title><h1>empty</h1>";
  const headers = ["Content-Type", "text/html", "Content-Length", String(body.length)];
  const theirs = await startServer(bundle.server, node, { kind: "bare", headers, body });
  const ours = await startCommand(node, file);
  const ratios = [];
  // The first of each loads the control plane and fills the browser's caches of code, and is left out.
  for (let round = 0; round <= (quick ? 5 : 21); round++) {
    const empty = await timeToDraw(browser, theirs, "h1");
    const drawn = await timeToDraw(browser, ours, ".gate");
    if (round > 0) ratios.push(drawn / empty);
  }
  await Promise.all([ours.stop(), theirs.stop()]);
  return figureOf("the overview drawn / an empty page", ratios, { atMost: 3 });
}

/** Milliseconds until the frame in which an element is painted, in a new profile. */
async function timeToDraw(browser: Browser, { port }: ServerChild, selector: string): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  // As text: the bench's own compiler puts calls of its own into functions.
  await page.addInitScript({
    content: `requestAnimationFrame(function look() {
      if (document.querySelector("${selector}") === null) requestAnimationFrame(look);
      else requestAnimationFrame(() => performance.mark("drawn"));
    });`,
  });
  await page.goto(`http://127.0.0.1:${port}/__sandbox/`);
  const drawn = await page.waitForFunction(() => performance.getEntriesByName("drawn")[0]?.startTime);
  const time = (await drawn.jsonValue()) as number;
  await context.close();
  return time;
}

async function measureThroughput(browser: Browser, bundle: Bundle, { node, quick, file }: Measured) {
  const ours = await startCommand(node, file);
  const theirs = await startCommand(node, file);
  await openView(browser, ours, "overview");
  const rounds = await alternate(
    bundle,
    { ours, theirs },
    { rounds: quick ? 3 : 11, requests: quick ? 5000 : 30_000 },
  );
  return figureOf(
    "requests per second: dashboard open / not open",
    rounds.map((round) => round.ours.perSecond / round.theirs.perSecond),
    { atLeast: 0.9 },
  );
}
