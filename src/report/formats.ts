/** How findings can be printed: those of a check and those of a report. */
export const reportFormats = ["text", "json", "markdown", "junit"] as const;
export type ReportFormat = (typeof reportFormats)[number];
