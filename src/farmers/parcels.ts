import { surveyMethods } from "../rules/farmer-values.js";
import { pick, type RandomStream } from "../rules/seed.js";
import { day } from "../rules/time.js";
import type { Parcel, Position } from "../sandbox/farmer-records/farmer-shape.js";
import * as exact from "./exact-math.js";
import { type DrawnField, drawFields, positionAt } from "./field-geometry.js";
import { type Country, crops, type Region } from "./tables.js";

/** What decides about a farm, and is known before its fields are drawn. */
export interface FarmContext {
  /** The start of the scenario's clock, in milliseconds since 1970. */
  readonly start: number;
  readonly country: Country;
  readonly region: Region;
  readonly id: string;
  /** The first year when the farmer is 18 or older all year. */
  readonly adultFrom: number;
  /** Starts a separate random stream for each part of this farmer, so that a new part changes no other. */
  readonly streamFor: (label: string, ...sublabels: readonly string[]) => RandomStream;
}

const squareMetersPerHectare = 10_000;

/** How often a farmer has a field on each kind of tenure. */
const tenureWeights: readonly {
  readonly tenure: Parcel["properties"]["land_ownership"];
  readonly weight: number;
}[] = [
  { tenure: "owned", weight: 6 },
  { tenure: "owner_like_possession", weight: 2 },
  { tenure: "rented", weight: 2 },
  { tenure: "sharecropped", weight: 1 },
  { tenure: "communal", weight: 1 },
];

/** Draws the fields of a farm, the largest first. */
export function drawParcels(farm: FarmContext): readonly Parcel[] {
  const { streamFor, region } = farm;
  const fields = drawFields(streamFor("fields"), drawMiddle(farm), drawAreas(farm));

  const currentYear = new Date(farm.start).getUTCFullYear();
  // A perennial crop has borne for three years, and the farmer was an adult when it was planted.
  const grows = region.grows.filter(({ crop }) => {
    const { bearsAfter } = crops[crop];
    return bearsAfter === undefined || currentYear - 3 - bearsAfter >= farm.adultFrom;
  });
  const main = pickWeighted(streamFor("crop"), grows);
  const irrigationDraw = exact.fraction(streamFor("irrigation"));
  return fields.map((field, index) => drawParcel(farm, { grows, main, irrigationDraw }, field, index));
}

/** Draws the middle of a farm, somewhere in the circle of its region. */
function drawMiddle({ streamFor, region }: FarmContext): Position {
  const draw = streamFor("place");
  const [east, north] = exact.direction(draw);
  const [longitude, latitude, radiusKm] = region.circle;
  // By the root, so that each part of the circle is equally likely.
  const distance = 1_000 * radiusKm * Math.sqrt(exact.fraction(draw));
  return positionAt([longitude, latitude], east * distance, north * distance);
}

/** Draws the areas of a farm's fields in square meters, the largest first. */
function drawAreas({ streamFor, region }: FarmContext): readonly number[] {
  const draw = streamFor("area");
  const { median, deviation } = region.farmSize;
  const wholeHa = exact.clamped(0.08, exact.logNormal(draw, median, deviation), 10_000);
  const whole = squareMetersPerHectare * wholeHa;

  // Small farms have few fields, and large ones several.
  let most = 7;
  if (whole < 5_000) most = 2;
  else if (whole < 50_000) most = 4;
  const least = whole < 1_000_000 ? 1 : 4;

  // Each field has a share of the whole.
  const shares: number[] = [];
  const count = exact.wholeBetween(draw, least, most);
  while (shares.length < count) shares.push(exact.between(draw, 0.3, 1));
  let sum = 0;
  for (const share of shares) sum += share;
  const areas = shares.map((share) => (whole * share) / sum);
  return areas.sort((left, right) => right - left);
}

/**
 * Draws what is on a field, whose outline is known. The largest field has the main crop of the farm, as half of the others do. If 30%
 * of a crop's fields have irrigation, the farm's fields with the crop have it for an `irrigationDraw` below 0.3.
 */
function drawParcel(
  farm: FarmContext,
  farming: {
    readonly grows: Region["grows"];
    readonly main: Region["grows"][number];
    readonly irrigationDraw: number;
  },
  { ring, area, perimeter }: DrawnField,
  index: number,
): Parcel {
  const position = String(index + 1);
  const draw = farm.streamFor("parcel", position);

  // What is drawn, in this order: another one would change the farmers of every seed.
  const hasMainCrop = index === 0 || exact.happens(draw, 0.5);
  const { crop, shareIrrigated } = hasMainCrop ? farming.main : pickWeighted(draw, farming.grows);
  // A farmer with irrigation has it on most fields.
  const isLikeOthers = exact.happens(draw, 0.85);
  const irrigationDraw = isLikeOthers ? farming.irrigationDraw : exact.fraction(draw);
  const method = pick(draw, surveyMethods);
  const surveyedAt = farm.start - exact.wholeBetween(draw, 60, 1_500) * day;
  const surveyDay = new Date(surveyedAt).toISOString().slice(0, 10);
  const { tenure } = pickWeighted(draw, tenureWeights);
  let irrigation: Parcel["properties"]["irrigation"] = "none";
  if (irrigationDraw < shareIrrigated) {
    const chosen = exact.fraction(draw);
    irrigation = chosen < 0.8 ? "sprinkler" : "drip";
    if (crop === "rice" || chosen < 0.6) irrigation = "surface";
  }

  const { code, name, bearsAfter } = crops[crop];
  return {
    type: "Feature",
    id: `${farm.id.replace("farmer", "parcel")}_${position}`,
    geometry: { type: "Polygon", coordinates: [ring] },
    properties: {
      collection: "synthetic",
      synthetic: true,
      "metrics:area": exact.rounded(area, 1),
      "metrics:perimeter": exact.rounded(perimeter, 1),
      area_ha: exact.rounded(area / squareMetersPerHectare, 5),
      "determination:method": method,
      "determination:datetime": `${surveyDay}T00:00:00Z`,
      land_type: bearsAfter === undefined ? "temporary_crops" : "permanent_crops",
      land_ownership: tenure,
      irrigation,
      "crop:code_list": "https://agrovoc.fao.org/",
      "crop:code": code,
      "crop:name": name,
    },
  };
}

/** One of the items, each as likely as its weight is a part of all weights. */
function pickWeighted<Item extends { readonly weight: number }>(
  draw: RandomStream,
  items: readonly Item[],
): Item {
  let total = 0;
  for (const { weight } of items) total += weight;

  let rest = exact.fraction(draw) * total;
  for (const item of items) {
    rest -= item.weight;
    if (rest < 0) return item;
  }
  // Rounding may leave a rest.
  return items.at(-1) as Item;
}
