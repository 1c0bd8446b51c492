import { join } from "node:path";
import { openPage } from "./chromium-page.js";
import type { ConformanceCase } from "./conformance-script.js";
import type { Seen } from "./send.js";

/** A page in which msw's service worker responds from a sandbox of the built package. */
export interface BrowserDoor {
  readonly run: (one: Pick<ConformanceCase, "scenario" | "steps">) => Promise<Seen[]>;
  readonly close: () => Promise<void>;
}

interface PageGlobals {
  readonly runCase: (one: unknown) => Promise<Seen[]>;
}

/** Opens the page. The whole case runs inside of it: the sandbox is there. */
export async function openBrowserDoor(): Promise<BrowserDoor> {
  const { page, close } = await openPage(join(import.meta.dirname, "browser-page.js"));
  return {
    close,
    run: ({ scenario, steps }) =>
      page.evaluate((one) => (globalThis as unknown as PageGlobals).runCase(one), { scenario, steps }),
  };
}
