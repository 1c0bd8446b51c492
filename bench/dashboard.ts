import { chromium } from "playwright-core";
import { programPath } from "../test/support/programs.js";
import { type Figure, figureOf } from "./figure.js";
import { type Bundle, benchScenario, scenarioFile, startCommand } from "./programs.js";
import { alternate, amountOf, type BenchArguments } from "./rounds.js";

export async function* measureDashboard(args: BenchArguments, bundle: Bundle): AsyncGenerator<Figure> {
  const file = await scenarioFile(bundle, benchScenario(10));
  const [ours, theirs] = [await startCommand(file), await startCommand(file)];
  const browser = await chromium.launch({ executablePath: programPath("chromium"), args: ["--disable-gpu"] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(`http://127.0.0.1:${ours.port}/__sandbox/#/overview`);
    await page.locator(".connection.open").waitFor();
    const rounds = await alternate(bundle, { ours, theirs }, amountOf(args));
    const ratios = rounds.map((round) => round.ours.perSecond / round.theirs.perSecond);
    yield figureOf("requests per second: dashboard open / not open", ratios, { atLeast: 0.9 });
  } finally {
    await browser.close();
  }
}
