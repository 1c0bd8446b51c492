import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { exchange } from "../test/support/exchange.js";
import { programPath } from "../test/support/programs.js";
import { root } from "./run-program.js";

// Takes the pictures of the docs from the built package: with one scenario, seed and time, only the page changes them.

interface Picture {
  readonly view: string;
  readonly scenario: "key-states" | "rotation";
  /** What it waits for. */
  readonly shows: string;
  /** The number of steps of the story that run first. */
  readonly steps?: number;
  readonly height: number;
  /** What is done on the page before. */
  readonly act?: (page: Page) => Promise<unknown>;
}

const openSecondRequest = (page: Page) => page.locator("main a[href^='#/requests/']").nth(1).click();

// They are closed in a low window.
const showLifelines = (page: Page) => page.keyboard.press("l");

const pictures: readonly Picture[] = [
  { view: "overview", scenario: "key-states", shows: ".checks", height: 600 },
  { view: "requests", scenario: "key-states", shows: ".requests", height: 600, act: openSecondRequest },
  // The middle of the second overlap, where both keys work.
  {
    view: "story",
    scenario: "rotation",
    shows: ".lifelines-axis",
    height: 740,
    steps: 13,
    act: showLifelines,
  },
];
// `--check` takes them into a temporary folder, on any port.
const isCheck = process.argv.includes("--check");
const into = isCheck ? await mkdtemp(join(tmpdir(), "svc-sandbox-pictures-")) : join(root, "docs/images");
// They are in the package.
const maxBytes = 35_000;
/** The refs of the keys that clients send to `key-states`; `none` sends none. */
const sent =
  "active live revoked legacy retiring live-not-approved active rate-limited wrong-scope expired active live-suspended none";

const built = join(root, "dist/esm/node.js");
const { startServer } = (await import(built)) as typeof import("../src/server/index.js");
const browser = await chromium.launch({ executablePath: programPath("chromium"), chromiumSandbox: false });
for (const picture of pictures) await take(picture);
await browser.close();
if (isCheck) await rm(into, { recursive: true });

async function take({ view, scenario, shows, steps = 0, height, act }: Picture): Promise<void> {
  // The pictures show the port.
  const port = isCheck ? 0 : 4747;
  await using server = await startServer({ scenario, seed: 1, frozen: true, port });
  const refs = scenario === "key-states" ? sent.split(" ") : [];
  for (const ref of refs) {
    const headers = ref === "none" ? {} : { "x-api-key": server.sandbox.secret(ref as "active") };
    await exchange(`${server.url}/v1/relying-party/me`, { headers });
  }
  for (let step = 0; step < steps; step++) {
    const headers = { "content-type": "application/json" };
    await exchange(`${server.controlUrl}/story/next`, { method: "POST", headers, body: "{}" });
  }

  const page = await browser.newPage({
    viewport: { width: 1040, height },
    reducedMotion: "reduce",
    colorScheme: "light",
  });
  await page.goto(`${server.controlUrl}/#/${view}`);
  await page.locator("main h1").waitFor();
  await act?.(page);
  await page.locator(shows).first().waitFor();
  await page.waitForTimeout(1500);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 35 });
  const bytes = Buffer.from(data, "base64");
  if (bytes.length > maxBytes) throw new Error(`${view} has ${bytes.length} bytes, more than ${maxBytes}.`);
  await writeFile(join(into, `${view}.webp`), bytes);
  console.log(`${view}.webp: ${Math.round(bytes.length / 1000)} kB`);
  await page.close();
}
