import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { reportShape } from "../../src/report/report-shape.js";
import { type Shape, shapeOfField } from "../../src/schema/shape.js";
import { shapeInJson } from "../../src/schema/spelling.js";
import { root } from "../support/pages.js";

const viewOf = (name: string) => readFileSync(join(root, "src/dashboard/views", name), "utf8");

/** The names of the members that an outcome of the report has. */
function membersOfOutcomes(report: Shape): string[] {
  const outcomes = report.kind === "mapping" ? report.fields.outcomes : undefined;
  const list = outcomes && shapeOfField(outcomes);
  const row = list?.kind === "list" ? list.item : undefined;
  return row?.kind === "mapping" ? Object.keys(row.fields) : [];
}

test("the page shows each member that an outcome of the report has", () => {
  const page = viewOf("overview.tsx");
  const members = membersOfOutcomes(shapeInJson(reportShape));
  expect(members).toContain("how_to_cover");
  const missing = members.filter((member) => !new RegExp(`\\b${member}\\b`).test(page));
  expect(missing).toEqual([]);
});
