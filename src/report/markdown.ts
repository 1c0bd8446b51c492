/** A cell of a table: a text, or a text with a code behind it that can be copied. */
export type MarkdownCell = string | { readonly text: string; readonly code: string };

/** The lines of a table of GitHub's Markdown, an empty one behind it. */
export function markdownTable(head: readonly string[], rows: readonly (readonly MarkdownCell[])[]): string[] {
  const line = (cells: readonly MarkdownCell[]) => `| ${cells.map(cellText).join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line), ""];
}

function cellText(cell: MarkdownCell): string {
  return typeof cell === "string" ? markdownText(cell) : `${markdownText(cell.text)} ${tableCode(cell.code)}`;
}

// Fenced with more backticks than there are in a row in it. Only in tables is a bar escaped in code, too.
function tableCode(code: string): string {
  const longest = Math.max(0, ...(code.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  const space = /^`|`$|^ .* $/.test(code) ? " " : "";
  return fence + space + code.replaceAll("|", "\\|") + space + fence;
}

// What was sent must not end a cell, begin a tag, or mention anybody. An underscore within a word is none of those.
/** A text as Markdown shows it, letter by letter. */
export function markdownText(text: string): string {
  return text.replace(
    /[\\|`*<[\]~&@]|(?<![a-z0-9])_|_(?![a-z0-9])/gi,
    (found) => `&#${found.charCodeAt(0)};`,
  );
}
