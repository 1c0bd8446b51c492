import { escapeControls } from "../plain-text.js";
import type { Cell, ReportDocument, Section } from "./document.js";

/** The document as GitHub's Markdown, for the summary of a CI job or a pull request: a table for each section. */
export function renderMarkdown(document: ReportDocument): string {
  const { title, sections, yaml, notes, conclusion, failures } = document;
  return [
    `# ${markdownText(conclusion.text)}`,
    "",
    `${markdownText(title)}.`,
    "",
    ...failures.flatMap((failure) => [`**${markdownText(failure)}**`, ""]),
    ...sections.flatMap(table),
    ...(yaml === undefined ? [] : [`${yaml.title}:`, "", "```yaml", yaml.text.trimEnd(), "```", ""]),
    ...notes.flatMap((note) => [markdownText(note), ""]),
  ].join("\n");
}

function table({ columns, rows }: Section): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(columns),
    `|${"---|".repeat(columns.length)}`,
    ...rows.map(({ cells, details = [] }) =>
      line([...cells.map(cellText), ...details.map((lines) => lines.map(markdownText).join("<br>"))]),
    ),
    "",
  ];
}

function cellText(cell: Cell): string {
  if (typeof cell === "string") return markdownText(cell);
  return "code" in cell ? `${markdownText(cell.text)} ${tableCode(cell.code)}` : markdownText(cell.text);
}

// Fenced with more backticks than there are in a row in it. Only in tables is a bar escaped in code, too.
function tableCode(code: string): string {
  const longest = Math.max(0, ...(code.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  const space = /^`|`$|^ .* $/.test(code) ? " " : "";
  return fence + space + code.replaceAll("|", "\\|") + space + fence;
}

// A text that was sent must not end a cell, begin a tag, or mention a user. An underscore within a word does none of these.
function markdownText(text: string): string {
  return escapeControls(text).replace(
    /[\\|`*<[\]~&@]|(?<![a-z0-9])_|_(?![a-z0-9])/gi,
    (found) => `&#${found.charCodeAt(0)};`,
  );
}
