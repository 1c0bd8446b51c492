import { snakeCase } from "../api/snake-case.js";
import type { Report } from "./report.js";

/** The report as one JSON document, spelled as the API spells things; `failures` is why it did not pass. */
export function asJson(report: Report, reasons: readonly string[]): string {
  const plain = { ...(snakeCase(report) as object), failures: reasons };
  return `${JSON.stringify(plain, null, 2)}\n`;
}
