import type { CountryCode } from "./countries.js";
import type { CropName } from "./crops.js";
import type { YearDay } from "./spans.js";

/** The first and the last day of sowing and of harvest; of what stands for years, those of harvest alone. */
export type Calendar =
  | readonly [sownFrom: YearDay, sownTo: YearDay, cutFrom: YearDay, cutTo: YearDay]
  | readonly [cutFrom: YearDay, cutTo: YearDay];

type Calendars = Partial<Readonly<Record<CropName, Calendar>>>;

/** A season of a country: the month of its beginning (1–12), its length, and what is sown and cut when. */
export interface GrowingSeason {
  readonly month: number;
  readonly months: number;
  readonly crops: Calendars;
}

function season(month: number, months: number, crops: Calendars): GrowingSeason {
  return { month, months, crops };
}

// Months of sowing and harvest from general knowledge, as a calendar on a farmer's wall gives them. Transplanting counts
// as sowing. What stands for years grows from the beginning of its season, which follows the harvest before.
export const calendars: Readonly<Record<CountryCode, Readonly<Record<string, GrowingSeason>>>> = {
  BR: {
    summer: season(9, 8, {
      beans: [915, 1115, 1210, 220],
      maize: [920, 1120, 210, 415],
      rice: [1001, 1120, 215, 410],
      soybeans: [925, 1120, 120, 331],
    }),
    safrinha: season(1, 9, { cotton: [105, 210, 625, 905], maize: [120, 305, 601, 731] }),
    winter: season(4, 8, { wheat: [515, 630, 1001, 1120] }),
    year: season(9, 12, {
      cassava: [915, 1110, 620, 825],
      coffee: [510, 825],
      sugarcane: [501, 828],
    }),
  },
  GH: {
    major: season(3, 6, { maize: [315, 420, 701, 820] }),
    rainy: season(5, 7, {
      cowpeas: [710, 805, 920, 1020],
      groundnuts: [520, 625, 901, 1010],
      maize: [525, 630, 910, 1025],
      millets: [515, 620, 825, 1001],
      rice: [605, 710, 1005, 1115],
      sorghum: [601, 705, 1001, 1115],
    }),
    year: season(3, 12, {
      cassava: [310, 510, 1205, 220],
      cocoa: [1001, 131],
      plantains: [1001, 215],
      yams: [305, 420, 1001, 1215],
    }),
  },
  ID: {
    wet: season(10, 7, {
      maize: [1015, 1215, 125, 331],
      rice: [1025, 1220, 210, 415],
    }),
    dry: season(5, 6, { soybeans: [601, 715, 901, 1015] }),
    year: season(11, 12, {
      cassava: [1105, 1231, 815, 1020],
      cocoa: [501, 820],
      coffee: [515, 915],
      sugarcane: [515, 1020],
    }),
  },
  IN: {
    kharif: season(5, 9, {
      cotton: [610, 715, 1101, 110],
      groundnuts: [610, 715, 1001, 1110],
      maize: [615, 715, 925, 1031],
      millets: [610, 715, 915, 1020],
      pigeonPeas: [615, 715, 1205, 115],
      rice: [620, 725, 1010, 1120],
      soybeans: [615, 710, 925, 1025],
    }),
    rabi: season(10, 8, {
      chickpeas: [1010, 1120, 215, 325],
      lentils: [1015, 1120, 225, 331],
      onions: [1201, 110, 401, 515],
      potatoes: [1010, 1110, 125, 315],
      sorghum: [1001, 1031, 205, 310],
      wheat: [1105, 1215, 325, 420],
    }),
    year: season(2, 12, { sugarcane: [1101, 125] }),
  },
  MX: {
    spring_summer: season(5, 8, {
      beans: [615, 725, 920, 1110],
      maize: [520, 710, 1015, 1220],
      sorghum: [525, 710, 1001, 1125],
    }),
    autumn_winter: season(10, 9, {
      beans: [1010, 1120, 115, 315],
      chickpeas: [1115, 1231, 315, 510],
      maize: [1101, 1220, 415, 620],
      tomatoes: [1005, 1130, 110, 410],
      wheat: [1120, 1231, 415, 525],
    }),
    year: season(4, 12, { avocados: [1015, 225], coffee: [1115, 315], sugarcane: [1205, 325] }),
  },
  NG: {
    major: season(4, 8, { maize: [405, 510, 715, 831], rice: [520, 630, 915, 1115] }),
    rainy: season(5, 7, {
      cowpeas: [710, 805, 920, 1020],
      groundnuts: [601, 705, 910, 1015],
      maize: [601, 705, 915, 1020],
      millets: [525, 625, 825, 1001],
      rice: [610, 715, 1005, 1115],
      sorghum: [601, 705, 1010, 1120],
    }),
    year: season(3, 12, {
      cassava: [310, 510, 1205, 220],
      cocoa: [1001, 131],
      plantains: [1001, 215],
      yams: [305, 425, 925, 1215],
    }),
  },
  SN: {
    rainy: season(6, 6, {
      cowpeas: [715, 810, 925, 1025],
      groundnuts: [620, 720, 1001, 1105],
      maize: [625, 720, 1001, 1101],
      millets: [615, 715, 920, 1020],
      sorghum: [625, 720, 1015, 1120],
    }),
    dry_cold: season(10, 8, { onions: [1105, 110, 301, 510] }),
    dry_hot: season(2, 6, { rice: [210, 315, 610, 720] }),
  },
  TR: {
    winter: season(10, 10, {
      barley: [1010, 1120, 515, 615],
      lentils: [1101, 1210, 525, 620],
      wheat: [1015, 1125, 528, 628],
    }),
    summer: season(3, 9, {
      chickpeas: [325, 425, 715, 815],
      cotton: [415, 520, 910, 1031],
      maize: [325, 430, 815, 930],
      sugarbeet: [325, 425, 920, 1115],
      sunflower: [401, 510, 805, 915],
    }),
    year: season(11, 12, { grapes: [815, 930], hazelnuts: [801, 910] }),
  },
  UA: {
    winter: season(8, 12, { rapeseed: [812, 910, 701, 720], wheat: [910, 1020, 705, 731] }),
    summer: season(3, 8, {
      barley: [320, 420, 705, 731],
      maize: [422, 520, 910, 1025],
      potatoes: [420, 515, 820, 925],
      soybeans: [425, 520, 905, 930],
      sugarbeet: [405, 430, 915, 1025],
      sunflower: [415, 515, 901, 930],
    }),
  },
  VN: {
    winter_spring: season(11, 6, { rice: [1110, 1225, 220, 405] }),
    rainy: season(5, 7, { maize: [505, 610, 825, 930], rice: [505, 610, 820, 925] }),
    year: season(5, 12, {
      cashews: [215, 420],
      cassava: [505, 610, 101, 331],
      coffee: [1025, 110],
      sugarcane: [1205, 405],
      tea: [1015, 1120],
    }),
  },
};

/** Where a subdivision sows or cuts at another time than the country. */
export const regionCalendars: Readonly<Record<string, Calendars>> = {
  "BR-PR": { wheat: [420, 610, 825, 1015] },
  "IN-MP": { wheat: [1101, 1205, 308, 405] },
  "IN-PB": { cotton: [501, 525, 1005, 1125], rice: [612, 705, 925, 1025], wheat: [1025, 1125, 408, 428] },
  "IN-TN": { rice: [801, 910, 1220, 125] },
  "TR-42": { barley: [1001, 1031, 620, 712], wheat: [1001, 1031, 701, 728] },
  "TR-55": { wheat: [1010, 1120, 625, 720] },
  "VN-05": { maize: [505, 531, 825, 925], rice: [610, 710, 1001, 1105] },
};
