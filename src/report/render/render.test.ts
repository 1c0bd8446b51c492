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
      { title: "Outcomes", columns: ["outcome", "fix"], rows: [{ cells: ["a", { text: "run", code }] }] },
    ],
    notes: [],
    conclusion: { text: "Coverage 5%." },
    failures: [],
    json: {},
  };
  const row = render(layout, "markdown")
    .split("\n")
    .find((line) => line.startsWith("| a "));
  expect(row).toBe("| a | run `` sh -c 'a \\| b \\|\\| c `d`' `` |");
});
