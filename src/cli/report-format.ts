import type { ReportFormat } from "../report/render/document.js";
import type { Flags } from "./flags.js";
import { usageError } from "./usage-error.js";

/** The format that the flags ask for; throws `usage` when `--json` and `--format` contradict each other. */
export function formatOf({ reportFormat, json }: Pick<Flags, "reportFormat" | "json">): ReportFormat {
  if (json !== true) return reportFormat ?? "text";
  if (reportFormat === undefined || reportFormat === "json") return "json";
  throw usageError(
    `Failed to read the command line: --json and --format ${reportFormat} contradict each other. Leave one out.`,
  );
}
