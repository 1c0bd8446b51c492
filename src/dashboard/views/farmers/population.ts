import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type ControlError, fetchControl } from "../../control/call.js";
import { farmersStart } from "../../control/resources.js";
import type { FarmerSummaryPage } from "../../control/responses.js";

/** The summary of a farmer, with the number that scenarios use for the farmer. */
export type FarmerRow = FarmerSummaryPage["data"][number] & { readonly index: number };

export interface Population {
  readonly total: number;
  readonly wanted: number;
  readonly farmers: readonly FarmerRow[];
  readonly problem: ControlError | undefined;
}

/** Reading more farmers takes too long. */
const mostRead = 5000;

// A page of a thousand would block the sandbox's clients for a fifth of a second.
const pageLength = 250;

// Filtering all farmers takes longer than reading a page.
const shownTogether = 500;

const empty: Population = { total: 0, wanted: 0, farmers: [], problem: undefined };

export const population = signal<Population>(empty);

let startRead: string | undefined;

/** Reads the farmers of the running scenario, and of each later one, while a component is shown. */
export function usePopulation(): void {
  useEffect(() => {
    const stopResource = farmersStart.follow();
    let reading = new AbortController();
    const stopReading = farmersStart.data.subscribe((first) => {
      reading.abort();
      if (first === undefined) return;
      startOver(first);
      reading = new AbortController();
      void readOn(reading.signal);
    });
    return () => {
      reading.abort();
      stopReading();
      stopResource();
    };
  }, []);
}

function startOver({ data, total }: FarmerSummaryPage): void {
  // Seed, locales and time determine all farmers: if the first farmer is the same, all are.
  const start = `${total} ${JSON.stringify(data)}`;
  if (start === startRead) return;
  startRead = start;
  population.value = { ...empty, total, wanted: Math.min(total, mostRead) };
}

async function readOn(until: AbortSignal): Promise<void> {
  const known = population.peek();
  let farmers = known.farmers;
  const show = (problem?: ControlError) => {
    population.value = { ...known, farmers, problem };
  };
  try {
    while (farmers.length < known.wanted) {
      const offset = farmers.length;
      const limit = Math.min(pageLength, known.wanted - offset);
      const response = await fetchControl(`/farmers/summary?offset=${offset}&limit=${limit}`, {
        signal: until,
      });
      const { data } = (await response.json()) as FarmerSummaryPage;
      if (until.aborted || data.length === 0) return;
      farmers = [...farmers, ...data.map((farmer, index) => ({ ...farmer, index: offset + index }))];
      if (offset === 0 || farmers.length % shownTogether === 0 || farmers.length === known.wanted) show();
    }
  } catch (problem) {
    if (!until.aborted) show(problem as ControlError);
  }
}
