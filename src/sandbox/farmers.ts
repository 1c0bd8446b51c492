import { SandboxError } from "../domain/sandbox-error.js";
import { type FarmerSource, farmerAt } from "../synthetic/farmers/farmer-at.js";
import { farmerId, indexOfFarmer } from "../synthetic/farmers/farmer-id.js";
import { resolveLocale } from "../synthetic/farmers/locales.js";
import type { FarmerMaker } from "./farm-population.js";

/** Makes farmers. What imports this loads the tables that they are made from, which most starts do without. */
export const makeFarmers: FarmerMaker = ({ seed, count, start, locale }) => {
  const locales = locale === undefined ? undefined : resolveLocale(locale);
  const source: FarmerSource = { seed, start, ...(locales !== undefined && { locales }) };
  return {
    idOf: (index) => farmerId(seed, index, locales),
    at(index) {
      if (Number.isInteger(index) && index >= 0 && index < count) return farmerAt(source, index);
      throw new SandboxError(
        "unknown_ref",
        `Failed to find the farmer ${JSON.stringify(index)}: there are ${count}, counted from 0.`,
        { kind: "farmer", ref: index, count },
      );
    },
    indexOf(id) {
      // Over HTTP and from JavaScript anything may come in.
      const index = indexOfFarmer(source, String(id));
      return index !== undefined && index < count ? index : undefined;
    },
  };
};
