import { expect, test } from "vitest";
import {
  faultsOf,
  type GrownSeason,
  grownSeasons,
  placeOf,
  sampled,
  tell,
} from "./support/farmer-samples.js";
import { growthOf } from "./support/farmer-tables.js";

test("an irrigated field loses no harvest by drought", () => {
  const dried = grownSeasons.filter(({ season }) => season.loss_cause === "drought");
  expect(dried.length).toBeGreaterThan(1_000);
  expect(faultsOf(dried, ({ parcel }) => parcel.properties.irrigation === "none", tell)).toEqual([]);
});

test("a drought spares no rain-fed field of the place that bears something on that day", () => {
  for (const [seed, farmers] of sampled) {
    const days = new Map<string, Set<number>>();
    for (const { location, insurance } of farmers) {
      const known = days.get(location.subdivision_code) ?? new Set();
      days.set(location.subdivision_code, known);
      for (const { claims } of insurance)
        for (const { cause, occurred_on } of claims)
          if (cause === "drought") known.add(Date.parse(occurred_on));
    }
    const rainFed = grownSeasons.filter(
      (one) =>
        one.seed === seed && one.parcel.properties.irrigation === "none" && one.season.harvested_on !== null,
    );
    const right = (one: GrownSeason) => {
      const { from, to } = growthOf(one.season);
      const claimed = [...(days.get(placeOf(one)) ?? [])];
      return one.season.loss_cause !== null || !claimed.some((day) => from <= day && day < to);
    };
    expect(faultsOf(rainFed, right, tell)).toEqual([]);
  }
});

test("fields of one farm that stood through the same months agree about a drought", () => {
  const byFarmer = new Map<string, GrownSeason[]>();
  for (const one of grownSeasons) {
    if (one.parcel.properties.irrigation !== "none" || one.season.harvested_on === null) continue;
    const key = `${one.seed} ${one.farmer.farmer_id}`;
    byFarmer.set(key, [...(byFarmer.get(key) ?? []), one]);
  }
  const pairs = [...byFarmer.values()].flatMap((group) =>
    group
      .filter(({ season }) => season.loss_cause === "drought")
      .flatMap((dry) => {
        const short = growthOf(dry.season);
        return group
          .filter(({ season }) => {
            const long = growthOf(season);
            return long.from <= short.from && short.to <= long.to;
          })
          .map((other) => ({ dry, other }));
      }),
  );
  expect(pairs.length).toBeGreaterThan(500);
  expect(
    faultsOf(
      pairs,
      ({ other }) => other.season.loss_cause !== null,
      ({ dry, other }) => `${tell(dry)} beside ${tell(other)}`,
    ),
  ).toEqual([]);
});
