import { expect, test } from "vitest";
import type { ReportLayout } from "./layout.js";
import { render } from "./render.js";

test("in Markdown, no bar of a text ends its cell, and no dollar signs make a formula", () => {
  const layout: ReportLayout = {
    kind: "report",
    subject: "key-states",
    title: "1 request",
    sections: [
      {
        title: "Outcomes",
        columns: ["outcome", "fix"],
        rows: [{ cells: ["/$a$", "b | c"] }],
      },
    ],
    notes: [],
    conclusion: { text: "Coverage 5%." },
    failures: [],
    json: {},
  };
  const lines = render(layout, "markdown").split("\n");
  expect(lines).toContain("| /&#36;a&#36; | b &#124; c |");
});
