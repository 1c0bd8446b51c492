/** How requests can be logged. */
export const logFormats = ["pretty", "json", "off"] as const;
export type LogFormat = (typeof logFormats)[number];

/** How findings can be printed. */
export const reportFormats = ["text", "json", "markdown", "junit"] as const;
export type ReportFormat = (typeof reportFormats)[number];

/** How keys can be listed. */
export const keyFormats = ["table", "json", "env"] as const;
export type KeyFormat = (typeof keyFormats)[number];
