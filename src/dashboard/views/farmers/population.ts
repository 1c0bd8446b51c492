import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Farmer, FarmerPage } from "../../control/answers.js";
import { type ControlError, fetchControl } from "../../control/call.js";
import { farmersStart } from "../../control/resources.js";

/** A position in degrees: longitude, latitude. */
export type Degrees = readonly [longitude: number, latitude: number];

/** The part of a farmer that the page keeps; a whole record is much larger. */
export interface FarmerRow {
  /** The number by which a scenario names the farmer. */
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly country: string;
  readonly region: string;
  readonly areaHa: number;
  readonly birthYear: number;
  /** The crops on the fields now, each once; that of the largest field first. */
  readonly crops: readonly string[];
  readonly harvests: readonly { readonly crop: string; readonly kgHa: number }[];
  readonly at: Degrees;
  readonly fields: readonly (readonly Degrees[])[];
}

/** The farmers that the page has read so far. */
export interface Population {
  /** Their number in the world. */
  readonly total: number;
  /** The number that will be read. */
  readonly wanted: number;
  readonly farmers: readonly FarmerRow[];
  readonly problem: ControlError | undefined;
}

/** More are left out: their records are 4 MB a thousand. */
const mostRead = 5000;

// A thousand at once would keep the sandbox from its clients for half a second.
const pageLength = 100;

// Drawing all of them anew takes longer than reading a page.
const drawnTogether = 500;

const empty: Population = { total: 0, wanted: 0, farmers: [], problem: undefined };

export const population = signal<Population>(empty);

let worldRead: string | undefined;

/** Reads the farmers of the running world, and of the next one, for as long as a component is shown. */
export function usePopulation(): void {
  useEffect(() => {
    const stopResource = farmersStart.follow();
    let reading = new AbortController();
    const stopReading = farmersStart.data.subscribe((start) => {
      reading.abort();
      if (start === undefined) return;
      begin(start);
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

function begin({ data, total }: FarmerPage): void {
  // Farmers follow from seed, locales and time: where the first is the same, all are.
  const world = `${total} ${JSON.stringify(data)}`;
  if (world === worldRead) return;
  worldRead = world;
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
      const answer = await fetchControl(`/farmers?offset=${offset}&limit=${limit}`, { signal: until });
      const { data } = (await answer.json()) as FarmerPage;
      if (until.aborted || data.length === 0) return;
      farmers = [...farmers, ...data.map((farmer, position) => rowOf(farmer, offset + position))];
      if (offset === 0 || farmers.length % drawnTogether === 0 || farmers.length === known.wanted) show();
    }
  } catch (problem) {
    if (!until.aborted) show(problem as ControlError);
  }
}

function rowOf(farmer: Farmer, index: number): FarmerRow {
  const { parcels, location } = farmer;
  const fields = parcels.map(({ geometry }) => geometry.coordinates[0] as unknown as readonly Degrees[]);
  const seasons = parcels.flatMap(({ properties }) => properties.seasons);
  return {
    index,
    id: farmer.farmer_id,
    name: `${farmer.name.given_name} ${farmer.name.surname}`,
    country: location.country_code,
    region: location.subdivision_name,
    areaHa: farmer.farm_area_ha,
    birthYear: farmer.birth_year,
    crops: [...new Set(parcels.map(({ properties }) => properties["crop:name"]))],
    harvests: seasons.flatMap(({ crop_name: crop, yield_kg_ha: kgHa }) =>
      kgHa === null ? [] : [{ crop, kgHa }],
    ),
    at: fields[0]?.[0] ?? [0, 0],
    fields,
  };
}
