import { callBare } from "../../control/call.js";
import { resource } from "../../control/resource.js";
import type { Shown } from "../../control/responses.js";

type Page = Shown<"FarmerSummaryPage">;

/** The summary of a farmer, with the number that scenarios use for the farmer. */
export type FarmerRow = Page["data"][number] & { readonly index: number };

/** Reading more farmers takes too long. */
const mostRead = 5000;

// A page of a thousand would block the sandbox's clients for a fifth of a second.
const pageLength = 250;

/** The farmers of the running scenario, and how many it has. */
export const population = resource<{ readonly total: number; readonly farmers: readonly FarmerRow[] }>(
  "/farmers/summary",
  {
    on: ["world."],
    async read(path) {
      const farmers: FarmerRow[] = [];
      for (;;) {
        const limit = Math.min(pageLength, mostRead - farmers.length);
        const { data, total } = await callBare<Page>(`${path}?offset=${farmers.length}&limit=${limit}`);
        farmers.push(...data.map((farmer, index) => ({ ...farmer, index: farmers.length + index })));
        if (farmers.length >= Math.min(total, mostRead)) return { total, farmers };
      }
    },
  },
);
