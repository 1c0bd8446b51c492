import { extname, resolve } from "node:path";
import { redactKeys } from "../domain/redact.js";
import { writeFailure, writeReportFile } from "../node/files/write-file.js";
import type { ReportFormat } from "../report/render/document.js";
import type { Report } from "../report/report.js";
import { renderReport } from "../report/report-document.js";
import { quote } from "../scenario/problems/words.js";
import type { Flags } from "./flags.js";
import { usageError } from "./usage-error.js";

/** A file for the report, as it was named, and how the report is written there. */
export interface ReportTarget {
  readonly file: string;
  readonly format: ReportFormat;
}

const formatOfEnding: Readonly<Record<string, ReportFormat>> = {
  ".json": "json",
  ".md": "markdown",
  ".markdown": "markdown",
  ".xml": "junit",
  ".txt": "text",
};

/** The files that `--report` names; throws `usage` when neither a name nor `--format` says what to write there. */
export function reportTargets({ report = [], reportFormat }: Flags): ReportTarget[] {
  return report.map((file) => {
    const format = reportFormat ?? formatOfEnding[extname(file).toLowerCase()];
    if (format !== undefined) return { file, format };
    throw usageError(
      `Failed to read --report: ${quote(file)} does not say how to write the report. End its name with .json, .md, .xml (JUnit) or .txt, or give --format.`,
    );
  });
}

/** Writes the report to a file, making its folder; throws `usage` when that cannot be done. */
export async function writeReport(
  { file, format }: ReportTarget,
  report: Report,
  unmet: readonly string[],
  cwd: string,
): Promise<void> {
  const path = resolve(cwd, file);
  try {
    await writeReportFile(path, redactKeys(renderReport(report, format, { failures: unmet })));
  } catch (error) {
    throw usageError(
      `Failed to write the report to ${quote(file)}: ${writeFailure(error)}. Name another file with --report.`,
    );
  }
}
