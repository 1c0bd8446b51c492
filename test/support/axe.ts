import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** What axe finds on a page, by all of its rules or by some: the rules broken, with the elements that break them. */
export async function axeProblems(page: Page, rules?: readonly string[]): Promise<string[]> {
  // As the tool of a developer would: the page's own policy lets no such script in.
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: await readFile(axe, "utf8") });
  await session.detach();
  return page.evaluate(async (only) => {
    // What it would load beforehand only an experimental rule needs, and a page that is a file may not load it.
    // biome-ignore lint/suspicious/noExplicitAny: axe is a global of the page
    const { violations } = await (globalThis as any).axe.run({
      preload: false,
      rules: { "target-size": { enabled: true } },
      ...(only !== undefined && { runOnly: only }),
    });
    return violations.map(
      ({ id, nodes }: { id: string; nodes: { html: string; failureSummary: string }[] }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("\n  ")}`,
    );
  }, rules);
}
