import type { CountryCode } from "./countries.js";
import type { YearDay } from "./spans.js";

export const perils = ["flood", "frost", "hail", "pest", "storm"] as const;
export type Peril = (typeof perils)[number];

/** A peril and the first and the last day of the year between which it strikes; one peril may have several rows. */
export type Hazard = readonly [peril: Peril, from: YearDay, to: YearDay];

// Months from general knowledge. Frost is a matter of the region: late frost in spring, the first frost in autumn, and
// frost on winter crops. In the tropics there is none.
const hazards: Readonly<Record<CountryCode, readonly Hazard[]>> = {
  BR: [
    ["flood", 1115, 331],
    ["pest", 101, 1231],
    ["storm", 901, 331],
  ],
  GH: [
    ["flood", 615, 1010],
    ["pest", 101, 1231],
    ["storm", 301, 1031],
  ],
  ID: [
    ["flood", 1115, 315],
    ["pest", 101, 1231],
  ],
  IN: [
    ["flood", 701, 930],
    ["pest", 101, 1231],
  ],
  MX: [
    ["flood", 715, 1015],
    ["pest", 101, 1231],
    ["storm", 701, 1020],
  ],
  NG: [
    ["flood", 715, 1015],
    ["pest", 101, 1231],
  ],
  SN: [
    ["flood", 801, 1010],
    ["pest", 101, 1231],
  ],
  TR: [
    ["flood", 1115, 531],
    ["hail", 401, 731],
    ["storm", 1101, 630],
  ],
  UA: [
    ["hail", 501, 831],
    ["pest", 501, 915],
    ["storm", 515, 915],
  ],
  VN: [
    ["flood", 801, 1125],
    ["pest", 101, 1231],
    ["storm", 701, 1130],
  ],
};

const northIndian: readonly Hazard[] = [
  ["hail", 201, 415],
  ["storm", 301, 610],
];
const ukrainianCold: readonly Hazard[] = [
  ["frost", 1215, 310],
  ["frost", 425, 520],
];
const regionHazards: Readonly<Record<string, readonly Hazard[]>> = {
  "BR-PR": [
    ["frost", 610, 905],
    ["hail", 820, 131],
  ],
  "BR-RS": [
    ["frost", 610, 930],
    ["flood", 901, 1115],
    ["hail", 820, 131],
  ],
  "IN-KA": [["hail", 301, 515]],
  "IN-MH": northIndian,
  "IN-MP": northIndian,
  "IN-PB": northIndian,
  "IN-TN": [
    ["flood", 1015, 1215],
    ["storm", 1015, 1215],
  ],
  "IN-UP": northIndian,
  "MX-GUA": [
    ["frost", 1101, 220],
    ["hail", 501, 930],
  ],
  "MX-JAL": [["hail", 601, 930]],
  "MX-SIN": [["frost", 105, 215]],
  "MX-ZAC": [
    ["frost", 1001, 220],
    ["hail", 501, 930],
  ],
  "TR-42": [["frost", 401, 510]],
  "TR-45": [["frost", 325, 425]],
  "TR-55": [["frost", 315, 430]],
  "UA-05": ukrainianCold,
  "UA-35": ukrainianCold,
  "UA-53": ukrainianCold,
  "UA-61": ukrainianCold,
  "UA-68": ukrainianCold,
  "UA-71": ukrainianCold,
};

/** What besides drought spoils harvests in a subdivision, and when. */
export function hazardsOf(country: CountryCode, subdivision: string): readonly Hazard[] {
  return [...hazards[country], ...(regionHazards[subdivision] ?? [])];
}

/** The parts of the year in which rain matters and may fail. */
export const droughtMonths: Readonly<Record<CountryCode, readonly (readonly [YearDay, YearDay])[]>> = {
  BR: [
    [1120, 331],
    [715, 920],
  ],
  GH: [[605, 831]],
  ID: [
    [1105, 131],
    [620, 920],
  ],
  IN: [
    [705, 915],
    [1201, 220],
  ],
  MX: [[701, 920]],
  NG: [[610, 910]],
  SN: [[715, 930]],
  TR: [[410, 620]],
  UA: [[501, 725]],
  VN: [[615, 831]],
};
