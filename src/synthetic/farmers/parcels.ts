import { pick } from "../../domain/seed.js";
import type { Growing } from "./countries.js";
import { type CropName, crops } from "./crops.js";
import { dateOf, day } from "./dates.js";
import {
  between,
  chance,
  direction,
  logNormal,
  normal,
  pickWeighted,
  rounded,
  unit,
  wholeBetween,
} from "./exact-math.js";
import type { FarmWorld } from "./farm-world.js";
import { landOwnerships, type Parcel, type Season } from "./farmer.js";
import { fieldRings } from "./field-shapes.js";
import { positionAt, ringArea, ringLength } from "./geodesic.js";
import { canHaveGrown, seasonsOf } from "./seasons.js";

/** The smallest and the largest farm, in hectares. */
export const farmSizeLimits = [0.08, 2_500] as const;

/** The fields of a farm with what was grown on them; the largest first. */
export function parcelsOf(world: FarmWorld): readonly Parcel[] {
  const { draws, region, id } = world;
  const areas = fieldAreas(world);
  const rings = fieldRings(draws("fields"), farmMiddle(world), areas);
  // Who has water has it on most fields; what a farmer gets out of a field in a usual year varies as well.
  const dryness = unit(draws("irrigation"));
  const skill = Math.max(1 + 0.16 * normal(draws("skill")), 0.5);
  const grows = region.grows.filter(([crop]) => canHaveGrown(world, crop));
  const main = pickWeighted(draws("crop"), grows, ([, , weight]) => weight);
  return rings.map((ring, i) => {
    const place = String(i + 1);
    const draw = draws("parcel", place);
    const area = Math.round(ringArea(ring));
    const areaHa = rounded(area / 10_000, 4);
    const grown: Growing =
      i === 0 || chance(draw, 0.5) ? main : pickWeighted(draw, grows, ([, , weight]) => weight);
    const irrigated = (chance(draw, 0.85) ? dryness : unit(draw)) < grown[3];
    const seasons = seasonsOf(world, place, { grown, irrigated, skill, areaHa });
    const latest = seasons.at(-1) as Season;
    return {
      type: "Feature",
      id: `${id.replace("farmer", "parcel")}_${place}`,
      geometry: { type: "Polygon", coordinates: [ring] },
      properties: {
        collection: "synthetic",
        synthetic: true,
        "metrics:area": area,
        "metrics:perimeter": rounded(ringLength(ring), 1),
        area_ha: areaHa,
        "determination:method": pick(draw, ["driven", "surveyed", "auto-imagery", "manual"]),
        "determination:datetime": `${dateOf(world.start - wholeBetween(draw, 60, 1_500) * day)}T00:00:00Z`,
        land_type: crops[grown[0]].stands === null ? "temporary_crops" : "permanent_crops",
        land_ownership: pickWeighted(draw, tenures, ([, weight]) => weight)[0],
        irrigation: irrigated ? irrigationFor(grown[0], unit(draw)) : "none",
        "crop:code_list": "https://agrovoc.fao.org/",
        "crop:code": latest.crop_code,
        "crop:name": latest.crop_name,
        seasons,
      },
    };
  });
}

const tenures = landOwnerships.map((name, i) => [name, [6, 2, 2, 1, 1][i] as number] as const);

function irrigationFor(crop: CropName, chosen: number): "surface" | "sprinkler" | "drip" {
  if (crop === "rice" || chosen < 0.6) return "surface";
  return chosen < 0.8 ? "sprinkler" : "drip";
}

/** The areas of the fields in m², which make up the farm; the largest first. */
function fieldAreas({ draws, country }: FarmWorld): readonly number[] {
  const draw = draws("area");
  const [smallest, largest] = farmSizeLimits;
  const { median, deviation } = country.farmSize;
  const farm = 10_000 * Math.min(Math.max(logNormal(draw, median, deviation), smallest), largest);
  const most = farm < 5_000 ? 2 : farm < 50_000 ? 4 : 7;
  const least = farm < 1_000_000 ? 1 : 4;
  const parts = Array.from({ length: wholeBetween(draw, least, most) }, () => between(draw, 0.3, 1));
  const whole = parts.reduce((sum, part) => sum + part, 0);
  return parts.map((part) => (farm * part) / whole).sort((a, b) => b - a);
}

/** A place in the circle of the region, each as likely. */
function farmMiddle({ draws, region }: FarmWorld) {
  const draw = draws("place");
  const [east, north] = direction(draw);
  const distance = 1_000 * region.radiusKm * Math.sqrt(unit(draw));
  return positionAt([region.longitude, region.latitude], east * distance, north * distance);
}
