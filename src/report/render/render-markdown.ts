import { oneSafeLine } from "../../rules/terminal-text.js";
import { type Cell, normalizeCell, type ReportLayout, type Section } from "./layout.js";

/** Renders the layout as GitHub Markdown, for the summary of a CI job or a pull request: a table for each section. */
export function renderMarkdown(layout: ReportLayout): string {
  const lines = [`# ${markdownText(layout.conclusion.text)}`, "", `${markdownText(layout.title)}.`, ""];
  for (const failure of layout.failures) {
    lines.push(`**${markdownText(failure)}**`, "");
  }
  for (const section of layout.sections) {
    lines.push(...markdownTable(section));
  }
  for (const note of layout.notes) {
    lines.push(markdownText(note), "");
  }
  return lines.join("\n");
}

function markdownTable(section: Section): string[] {
  const { columns, rows, note } = section;
  const lines = [markdownRow(columns), `|${"---|".repeat(columns.length)}`];

  for (const row of rows) {
    const cells = row.cells.map(markdownCell);
    for (const detail of row.details ?? []) cells.push(detail.map(markdownText).join("<br>"));
    lines.push(markdownRow(cells));
  }
  lines.push("");

  if (note) lines.push(markdownCell(note), "");
  return lines;
}

function markdownRow(cells: readonly string[]): string {
  // Here, a bar of a command would end its cell. Texts have none: theirs are entities.
  const escapedCells = cells.map((cell) => cell.replaceAll("|", "\\|"));
  return `| ${escapedCells.join(" | ")} |`;
}

function markdownCell(cell: Cell): string {
  const { text, code } = normalizeCell(cell);
  if (code === undefined) return markdownText(text);

  // One tick more than the most in a row inside the command.
  let mostTicks = 0;
  for (const ticks of code.match(/`+/g) ?? []) mostTicks = Math.max(mostTicks, ticks.length);
  const fence = "`".repeat(mostTicks + 1);

  const line = oneSafeLine(code);
  const command = mostTicks === 0 ? line : ` ${line} `;
  return `${markdownText(text)} ${fence}${command}${fence}`;
}

// Sent texts must not end a cell, start a tag, or mention a user. An underscore inside a word is harmless.
const markdownSigns = /[\\|`*<[\]~&@]|(?<![a-z0-9])_|_(?![a-z0-9])/gi;

function markdownText(text: string): string {
  return oneSafeLine(text).replace(markdownSigns, (sign) => `&#${sign.charCodeAt(0)};`);
}
