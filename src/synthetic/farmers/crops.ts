/** What is grown, and how long it stands. Money is in US dollars of no particular day; countries turn it into theirs. */
export interface Crop {
  /** The concept's code in AGROVOC, the last part of http://aims.fao.org/aos/agrovoc/c_…. */
  readonly code: string;
  readonly name: string;
  /** Days from planting to harvest, or `null` for what stands for years and is harvested each year. */
  readonly days: number | null;
  readonly dollarsPerKg: number;
}

// Codes and names: AGROVOC (FAO, CC BY). Each was looked up in the extract of AGROVOC that cmungall/agrovoc-obo holds
// (subset-products.obo; cotton in align-ncbitaxon.tsv); names are the English preferred labels, wheat in the singular
// that AGROVOC uses today. Days and prices are round figures of the usual order, no statistics.
export const crops = {
  avocados: crop("c_9022", "avocados", null, 0.9),
  barley: crop("c_823", "barley", 250, 0.2),
  beans: crop("c_331566", "beans", 85, 0.7),
  cassava: crop("c_9649", "cassava", 300, 0.08),
  cashews: crop("c_9647", "cashews", null, 1),
  chickpeas: crop("c_9785", "chickpeas", 110, 0.6),
  cocoa: crop("c_1711", "cocoa beans", null, 2.4),
  coffee: crop("c_1731", "coffee", null, 2.5),
  cotton: crop("c_1926", "cotton", 170, 0.6),
  cowpeas: crop("c_1938", "cowpeas", 75, 0.5),
  grapes: crop("c_3359", "grapes", null, 0.5),
  groundnuts: crop("c_11368", "groundnuts", 110, 0.55),
  hazelnuts: crop("c_18248", "hazelnuts", null, 2.6),
  lentils: crop("c_12140", "lentils", 200, 0.6),
  maize: crop("c_12332", "maize", 115, 0.2),
  millets: crop("c_4838", "millets", 95, 0.28),
  onions: crop("c_12934", "onions", 120, 0.25),
  pigeonPeas: crop("c_13356", "pigeon peas", 165, 0.6),
  plantains: crop("c_5989", "plantains", null, 0.25),
  potatoes: crop("c_13551", "potatoes", 110, 0.2),
  rapeseed: crop("c_25499", "rapeseed", 300, 0.42),
  rice: crop("c_6599", "rice", 120, 0.28),
  sorghum: crop("c_7249", "sorghum grain", 115, 0.24),
  soybeans: crop("c_14477", "soybeans", 115, 0.4),
  sugarbeet: crop("c_7499", "sugarbeet", 180, 0.045),
  sugarcane: crop("c_7501", "sugarcane", null, 0.035),
  sunflower: crop("c_25507", "sunflower seed", 125, 0.42),
  tea: crop("c_7634", "tea", null, 0.5),
  tomatoes: crop("c_7805", "tomatoes", 100, 0.3),
  wheat: crop("c_8373", "wheat", 280, 0.22),
  yams: crop("c_8478", "yams", 240, 0.35),
} as const satisfies Record<string, Crop>;

export type CropName = keyof typeof crops;

const namesByCode = new Map(
  (Object.keys(crops) as CropName[]).map((name) => [crops[name].code as string, name]),
);

/** The crop with this AGROVOC code; `maize` for a code that is not in the table. */
export function cropOfCode(code: string): CropName {
  return namesByCode.get(code) ?? "maize";
}

function crop(code: string, name: string, days: number | null, dollarsPerKg: number): Crop {
  return { code, name, days, dollarsPerKg };
}
