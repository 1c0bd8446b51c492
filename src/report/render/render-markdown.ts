import { oneSafeLine } from "../../rules/terminal-text.js";
import { normalizeCell, type ReportLayout, type Section } from "./layout.js";

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
  const { columns, rows, command } = section;
  const markdownRow = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const lines = [markdownRow(columns), `|${"---|".repeat(columns.length)}`];

  for (const row of rows) {
    const cells = row.cells.map((cell) => markdownText(normalizeCell(cell).text));
    for (const detail of row.details ?? []) cells.push(detail.map(markdownText).join("<br>"));
    lines.push(markdownRow(cells));
  }
  lines.push("");

  if (command !== undefined) {
    lines.push(`${markdownText(command.purpose)} ${markdownCommand(command.line)}`, "");
  }
  return lines;
}

/** A command between ticks: one more than the most in a row inside of it. */
function markdownCommand(line: string): string {
  let mostTicks = 0;
  for (const ticks of line.match(/`+/g) ?? []) mostTicks = Math.max(mostTicks, ticks.length);
  const fence = "`".repeat(mostTicks + 1);

  const safeLine = oneSafeLine(line);
  const command = mostTicks === 0 ? safeLine : ` ${safeLine} `;
  return `${fence}${command}${fence}`;
}

// Sent texts must not end a cell, start a tag, or mention a user. An underscore inside a word is harmless.
const markdownSigns = /[\\|`*<[\]~&@]|(?<![a-z0-9])_|_(?![a-z0-9])/gi;

function markdownText(text: string): string {
  return oneSafeLine(text).replace(markdownSigns, (sign) => `&#${sign.charCodeAt(0)};`);
}
