import { snakeCase } from "../../api/snake-case.js";
import { SandboxError } from "../../domain/errors.js";
import { reportOf } from "../../report/build-report.js";
import { type ReportFormat, reportFormats } from "../../report/render/document.js";
import { renderReport } from "../../report/report-document.js";
import { didYouMean, listed, quote } from "../../scenario/problems/words.js";
import { inData } from "./answer-schemas.js";
import { type ControlCall, controlCall } from "./call.js";

const typeOf: Readonly<Record<Exclude<ReportFormat, "json">, string>> = {
  text: "text/plain",
  markdown: "text/markdown",
  junit: "application/xml",
};

/** What a client has met, and how it behaved. */
export const reportCalls: readonly ControlCall[] = [
  controlCall({
    method: "GET",
    path: "/report",
    summary: "Which paths the clients have met, and how they behaved; a server's counts its instances' too",
    query: { format: `One of ${reportFormats.join(", ")}. Default: json.` },
    status: 200,
    answer: inData.one("Report"),
    run: ({ runtime }) => ({ data: snakeCase(reportOf(runtime)) }),
    written: {
      types: Object.values(typeOf),
      run({ runtime, query }) {
        const format = formatIn(query);
        if (format === "json") return undefined;
        return { type: typeOf[format], text: renderReport(reportOf(runtime), format) };
      },
    },
  }),
];

function formatIn(query: Readonly<Record<string, unknown>>): ReportFormat {
  for (const name of Object.keys(query)) {
    if (name !== "format") throw invalid(name, "is not a parameter; there is format");
  }
  const { format = "json" } = query;
  const found = reportFormats.find((one) => one === format);
  if (found !== undefined) return found;
  if (typeof format !== "string") throw invalid("format", "was given more than once");
  throw invalid(
    "format",
    `${quote(format)} is not one of ${listed(reportFormats, "and")}.${didYouMean(format, reportFormats)}`,
  );
}

function invalid(field: string, problem: string): SandboxError {
  return new SandboxError("validation_failed", `The query is not valid: ${field} ${problem}`, {
    fields: { [field]: problem },
  });
}
