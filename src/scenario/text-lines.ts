// Lines of a text, and their indents.

/** The offset of the end of the line that an offset is in. */
export function endOfLine(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end === -1 ? text.length : end;
}

/** The start of the line at an offset, or of the next one that is no comment. */
export function startOfField(text: string, offset: number): number {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const [skipped = ""] = /^(?:[^\S\n]*(?:#.*)?\n)*/.exec(text.slice(lineStart)) ?? [];
  return lineStart + skipped.length;
}

/** A line with the lines after it that are indented more. */
export function blockAt(text: string, start: number): string {
  const [first = "", ...others] = text.slice(start).split("\n");
  const next = others.findIndex((line) => line.trim() !== "" && indentOf(line) <= indentOf(first));
  return [first, ...(next === -1 ? others : others.slice(0, next))].join("\n");
}

/** How many spaces a line starts with. */
export function indentOf(line: string): number {
  return line.search(/[^ ]|$/);
}

/** A block with its lines moved to the right, or to the left. */
export function shifted(block: string, by: number): string {
  if (by > 0) return block.replace(/^(?=.)/gm, " ".repeat(by));
  return block.replace(new RegExp(`^ {${-by}}`, "gm"), "");
}
