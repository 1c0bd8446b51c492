/** What is grown, and for how many years it stands. Money is in US dollars of no particular day; countries turn it into theirs. */
export interface Crop {
  /** The concept's code in AGROVOC, the last part of http://aims.fao.org/aos/agrovoc/c_…. */
  readonly code: string;
  readonly name: string;
  readonly dollarsPerKg: number;
  /** Of what stands for years and is harvested each year: after how many it first bears, and is set anew. */
  readonly stands: readonly [bearsAfter: number, setAnewAfter: number] | null;
}

// Codes and names: AGROVOC (FAO, CC BY). Each was looked up in the extract of AGROVOC that cmungall/agrovoc-obo holds
// (subset-products.obo; cotton in align-ncbitaxon.tsv); names are the English preferred labels, wheat in the singular
// that AGROVOC uses today. Years and prices are round figures of the usual order, no statistics.
export const crops = {
  avocados: crop("c_9022", "avocados", 0.9, [4, 25]),
  barley: crop("c_823", "barley", 0.2),
  beans: crop("c_331566", "beans", 0.7),
  cassava: crop("c_9649", "cassava", 0.08),
  cashews: crop("c_9647", "cashews", 1, [4, 28]),
  chickpeas: crop("c_9785", "chickpeas", 0.6),
  cocoa: crop("c_1711", "cocoa beans", 2.4, [4, 30]),
  coffee: crop("c_1731", "coffee", 2.5, [4, 22]),
  cotton: crop("c_1926", "cotton", 0.6),
  cowpeas: crop("c_1938", "cowpeas", 0.5),
  grapes: crop("c_3359", "grapes", 0.5, [3, 30]),
  groundnuts: crop("c_11368", "groundnuts", 0.55),
  hazelnuts: crop("c_18248", "hazelnuts", 2.6, [5, 40]),
  lentils: crop("c_12140", "lentils", 0.6),
  maize: crop("c_12332", "maize", 0.2),
  millets: crop("c_4838", "millets", 0.28),
  onions: crop("c_12934", "onions", 0.25),
  pigeonPeas: crop("c_13356", "pigeon peas", 0.6),
  plantains: crop("c_5989", "plantains", 0.25, [1, 4]),
  potatoes: crop("c_13551", "potatoes", 0.2),
  rapeseed: crop("c_25499", "rapeseed", 0.42),
  rice: crop("c_6599", "rice", 0.28),
  sorghum: crop("c_7249", "sorghum grain", 0.24),
  soybeans: crop("c_14477", "soybeans", 0.4),
  sugarbeet: crop("c_7499", "sugarbeet", 0.045),
  sugarcane: crop("c_7501", "sugarcane", 0.035, [1, 6]),
  sunflower: crop("c_25507", "sunflower seed", 0.42),
  tea: crop("c_7634", "tea", 0.5, [4, 40]),
  tomatoes: crop("c_7805", "tomatoes", 0.3),
  wheat: crop("c_8373", "wheat", 0.22),
  yams: crop("c_8478", "yams", 0.35),
} as const satisfies Record<string, Crop>;

export type CropName = keyof typeof crops;

const namesByCode = new Map(
  (Object.keys(crops) as CropName[]).map((name) => [crops[name].code as string, name]),
);

/** The crop with this AGROVOC code; `maize` for a code that is not in the table. */
export function cropOfCode(code: string): CropName {
  return namesByCode.get(code) ?? "maize";
}

function crop(code: string, name: string, dollarsPerKg: number, stands: Crop["stands"] = null): Crop {
  return { code, name, dollarsPerKg, stands };
}
