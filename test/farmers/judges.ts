import { createRequire } from "node:module";

// Neither package has types.
const require = createRequire(import.meta.url);

/** What is wrong with a GeoJSON object, by @mapbox/geojsonhint, right-hand rule and all. */
export function geojsonFaults(object: unknown): readonly { readonly message: string }[] {
  const { hint } = require("@mapbox/geojsonhint") as {
    hint(object: unknown, options: object): { message: string }[];
  };
  return hint(object, { noDuplicateMembers: false, precisionWarning: false });
}

/** The name of a subdivision of ISO 3166-2, or `undefined` for a code that is none. */
export function subdivisionName(code: string): string | undefined {
  const { subdivision } = require("iso-3166-2") as { subdivision(code: string): { name: string } | null };
  return subdivision(code)?.name;
}
