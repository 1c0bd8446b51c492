import { asJson } from "./as-json.js";
import { asJunit } from "./as-junit.js";
import { asMarkdown } from "./as-markdown.js";
import { asText, type ReportPalette } from "./as-text.js";
import type { ReportFormat } from "./formats.js";
import type { Report } from "./report.js";

/** How to write a report down. */
export interface FormatOptions {
  /** The colours of a terminal, for text. Default: none. */
  readonly palette?: ReportPalette;
  /** Why the report did not pass what was asked of it (`gateOf`). Default: nothing was asked. */
  readonly reasons?: readonly string[];
}

/** A report as text in one of the formats, with a line end. */
export function formatReport(
  report: Report,
  format: ReportFormat,
  { palette, reasons = [] }: FormatOptions = {},
): string {
  switch (format) {
    case "json":
      return asJson(report, reasons);
    case "markdown":
      return asMarkdown(report, reasons);
    case "junit":
      return asJunit(report, reasons);
    default:
      return asText(report, reasons, palette);
  }
}
