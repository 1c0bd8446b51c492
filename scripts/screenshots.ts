import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { exchange } from "../test/support/exchange.js";
import { programPath } from "../test/support/programs.js";

// Takes the pictures of docs/dashboard.md and the README from the built package. Scenario, seed
// and clock are fixed, so a picture changes only with the page.

const folder = fileURLToPath(new URL("../docs/images/", import.meta.url));
const built = new URL("../dist/esm/node.js", import.meta.url).href;
const mostBytes = 150_000;
// The pictures show it.
const port = 4747;

const { startServer } = (await import(built)) as typeof import("../src/server/index.js");
type Server = Awaited<ReturnType<typeof startServer>>;

interface Picture {
  readonly name: string;
  readonly scenario: string;
  readonly view: string;
  readonly isDark?: boolean;
  /** Prepares the sandbox. */
  readonly before?: (server: Server) => Promise<void>;
  /** A selector that matches when the view is drawn. */
  readonly shows: string;
  readonly act?: (page: Page) => Promise<void>;
}

/** Sends the requests of a client that covers some paths. */
async function callWithKeys({ url, sandbox }: Server): Promise<void> {
  const keys = [
    "active",
    "live",
    "revoked",
    "legacy",
    "retiring",
    "live-not-approved",
    "active",
    "rate-limited",
  ];
  for (const key of [...keys, "wrong-scope", "expired", "active", "live-suspended"]) {
    await exchange(`${url}/v1/relying-party/me`, { headers: { "x-api-key": sandbox.secret(key) } });
  }
  await exchange(`${url}/v1/relying-party/me`, {});
}

async function runSteps({ controlUrl }: Server, steps: number): Promise<void> {
  const headers = { "content-type": "application/json" };
  for (let step = 0; step < steps; step++) {
    await exchange(`${controlUrl}/story/next`, { method: "POST", headers, body: "{}" });
  }
}

const overview = { scenario: "key-states", view: "overview", before: callWithKeys, shows: ".gate" };

const pictures: readonly Picture[] = [
  { name: "overview", ...overview },
  { name: "overview-dark", ...overview, isDark: true },
  {
    name: "requests",
    scenario: "key-states",
    view: "requests",
    before: callWithKeys,
    shows: "main a[href^='#/requests/']",
    act: (page) => page.locator("main a[href^='#/requests/']").nth(1).click(),
  },
  { name: "time", scenario: "key-states", view: "time", shows: "main svg" },
  {
    name: "story",
    scenario: "rotation",
    view: "story",
    before: (server) => runSteps(server, 20),
    shows: ".story",
  },
  { name: "farmers", scenario: "announced-endpoints", view: "farmers", shows: "main svg, main canvas" },
];

async function take(browser: Browser, picture: Picture): Promise<void> {
  const { name, scenario, view, isDark = false, before, shows, act } = picture;
  const server = await startServer({ scenario, seed: 1, frozen: true, port });
  await before?.(server);
  const page = await browser.newPage({
    viewport: { width: 1280, height: 800 },
    deviceScaleFactor: 1.5,
    colorScheme: isDark ? "dark" : "light",
    reducedMotion: "reduce",
  });
  await page.goto(`${server.controlUrl}/#/${view}`);
  await page.locator(shows).first().waitFor();
  await act?.(page);
  await page.waitForTimeout(1500);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 80 });
  const bytes = Buffer.from(data, "base64");
  if (bytes.length > mostBytes) throw new Error(`${name} has ${bytes.length} bytes, more than ${mostBytes}.`);
  await writeFile(`${folder}${name}.webp`, bytes);
  console.log(`${name}.webp: ${Math.round(bytes.length / 1000)} kB`);
  await page.close();
  await server.close(0);
}

await mkdir(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: programPath("chromium"), chromiumSandbox: false });
try {
  for (const picture of pictures) await take(browser, picture);
} finally {
  await browser.close();
}
