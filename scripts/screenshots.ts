import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { exchange } from "../test/support/exchange.js";
import { programPath } from "../test/support/programs.js";
import { root } from "./run-program.js";

// Takes the pictures of docs/dashboard.md and the README from the built package. Scenario, seed
// and clock are fixed, so a picture changes only with the page.

interface Picture {
  readonly view: string;
  readonly scenario: string;
  readonly isUsed?: boolean;
  readonly shows: string;
  readonly click?: number;
}

const pictures: Readonly<Record<string, Picture>> = {
  overview: { view: "overview", scenario: "key-states", isUsed: true, shows: ".checks" },
  requests: {
    view: "requests",
    scenario: "key-states",
    isUsed: true,
    shows: "main a[href^='#/requests/']",
    click: 1,
  },
};
// `--check` takes them into a temporary folder, on any port.
const isCheck = process.argv.includes("--check");
const into = isCheck ? await mkdtemp(join(tmpdir(), "svc-sandbox-pictures-")) : join(root, "docs/images");
const maxBytes = 150_000;
/** The refs of the keys that clients send; `none` sends none. */
const sent =
  "active live revoked legacy retiring live-not-approved active rate-limited wrong-scope expired active live-suspended none";

const built = join(root, "dist/esm/node.js");
const { startServer } = (await import(built)) as typeof import("../src/server/index.js");
const browser = await chromium.launch({ executablePath: programPath("chromium"), chromiumSandbox: false });
for (const [name, picture] of Object.entries(pictures)) await take(name, picture);
await browser.close();
if (isCheck) await rm(into, { recursive: true });

async function take(name: string, picture: Picture): Promise<void> {
  const { scenario, view, isUsed = false, shows, click } = picture;
  // The pictures show the port.
  await using server = await startServer({ scenario, seed: 1, frozen: true, port: isCheck ? 0 : 4747 });
  for (const ref of isUsed ? sent.split(" ") : []) {
    const headers = ref === "none" ? {} : { "x-api-key": server.sandbox.secret(ref) };
    await exchange(`${server.url}/v1/relying-party/me`, { headers });
  }
  const page = await browser.newPage({
    viewport: { width: 1280, height: 800 },
    deviceScaleFactor: 1.5,
    reducedMotion: "reduce",
    colorScheme: "light",
  });
  await page.goto(`${server.controlUrl}/#/${view}`);
  await page.locator(shows).first().waitFor();
  if (click !== undefined) await page.locator(shows).nth(click).click();
  await page.waitForTimeout(1500);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 80 });
  const bytes = Buffer.from(data, "base64");
  if (bytes.length > maxBytes) throw new Error(`${name} has ${bytes.length} bytes, more than ${maxBytes}.`);
  await writeFile(join(into, `${name}.webp`), bytes);
  console.log(`${name}.webp: ${Math.round(bytes.length / 1000)} kB`);
  await page.close();
}
