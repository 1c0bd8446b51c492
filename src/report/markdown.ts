/** The lines of a table of GitHub's Markdown, an empty one behind it. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.map(markdownText).join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line), ""];
}

// What was sent must not end a cell, begin a tag, or mention anybody. An underscore within a word is none of those.
/** A text as Markdown shows it, letter by letter. */
export function markdownText(text: string): string {
  return text.replace(
    /[\\|`*<[\]~&@]|(?<![a-z0-9])_|_(?![a-z0-9])/gi,
    (found) => `&#${found.charCodeAt(0)};`,
  );
}
