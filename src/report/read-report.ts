import { mapTexts } from "../rules/map-texts.js";
import { oneSafeLine } from "../rules/terminal-text.js";
import { findMismatches } from "../schema/check.js";
import { membersToCamelCase, tolerantJsonShape } from "../schema/spelling.js";
import { type Report, reportShape } from "./report-shape.js";

/** Reads a report as JSON; `undefined` for anything else. Keeps unknown members, which a newer sandbox may send. */
export function parseReport(json: unknown): Report | undefined {
  const mismatches = findMismatches(tolerantJsonShape(reportShape), json);
  if (mismatches.some(({ kind }) => kind !== "unknown_member")) return undefined;

  // Its texts are shown on a terminal, and come from a file or another process.
  return mapTexts(membersToCamelCase(json) as Report, oneSafeLine);
}
