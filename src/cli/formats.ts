/** How requests can be logged. */
export const logFormats = ["pretty", "json", "off"] as const;
export type LogFormat = (typeof logFormats)[number];

/** How keys can be listed. */
export const keyFormats = ["table", "json", "env"] as const;
export type KeyFormat = (typeof keyFormats)[number];

/** How synthetic records can be written. */
export const fixtureFormats = ["ndjson", "json", "yaml", "csv", "geojson"] as const;
export type FixtureFormat = (typeof fixtureFormats)[number];
