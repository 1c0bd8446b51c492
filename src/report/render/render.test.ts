import { expect, test } from "vitest";
import type { ReportLayout } from "./layout.js";
import { render } from "./render.js";

test("in a table of Markdown, no bar of a command ends its cell, and no backtick the command", () => {
  const code = "sh -c 'a | b || c `d`'";
  const layout: ReportLayout = {
    kind: "report",
    subject: "key-states",
    title: "1 request",
    sections: [
      {
        title: "Outcomes",
        columns: ["outcome", "fix"],
        rows: [{ cells: ["a", { text: "run", code }] }],
        note: { text: "Or:", code },
      },
    ],
    notes: [],
    conclusion: { text: "Coverage 5%." },
    failures: [],
    json: {},
  };
  const lines = render(layout, "markdown").split("\n");
  expect(lines).toContain("| a | run `` sh -c 'a \\| b \\|\\| c `d`' `` |");
  expect(lines).toContain("Or: `` sh -c 'a | b || c `d`' ``");
});
