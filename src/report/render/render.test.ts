import { expect, test } from "vitest";
import type { ReportLayout } from "./layout.js";
import { render } from "./render.js";

test("in Markdown, no bar of a text ends its cell, and no backtick ends a command", () => {
  const line = "sh -c 'a | b || c `d`'";
  const layout: ReportLayout = {
    kind: "report",
    subject: "key-states",
    title: "1 request",
    sections: [
      {
        title: "Outcomes",
        columns: ["outcome", "fix"],
        rows: [{ cells: ["a", "b | c"] }],
        command: { purpose: "Run:", line },
      },
    ],
    notes: [],
    conclusion: { text: "Coverage 5%." },
    failures: [],
    json: {},
  };
  const lines = render(layout, "markdown").split("\n");
  expect(lines).toContain("| a | b &#124; c |");
  expect(lines).toContain("Run: `` sh -c 'a | b || c `d`' ``");
});
