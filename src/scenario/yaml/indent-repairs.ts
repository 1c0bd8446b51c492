import { indentOf } from "./lines.js";
import type { Repair } from "./repair.js";

// Guesses at the level of a line.

/** A line gets the indent of a line above it, the nearest first; the lines inside it move with it. */
export function otherIndents(lines: readonly string[], line: number): Repair[] {
  const text = lines[line] ?? "";
  const indent = indentOf(text);
  const block = [text];
  for (const inner of lines.slice(line + 1)) {
    if (inner.trim() !== "" && indentOf(inner) <= indent) break;
    block.push(inner);
  }

  const isItem = text.trim().startsWith("- ");
  const candidateIndents = new Set<number>();
  for (const above of lines.slice(0, line).reverse()) {
    // Only a line with ordinary spaces shows a level.
    if (!/^ *[^\s#]/.test(above)) continue;
    candidateIndents.add(isItem ? indentOf(above) : columnOfField(above));
  }
  candidateIndents.delete(indent);

  const repairs: Repair[] = [];
  for (const newIndent of candidateIndents) {
    const repaired = block.map((inner) => " ".repeat(newIndent) + inner.slice(indent));
    const reason = "this line is not indented like its neighbors";
    const hint = `indent it to column ${newIndent + 1}`;
    repairs.push({ line, repaired, column: indent, reason, hint, hintForSecret: hint });
  }
  return repairs;
}

/** The column of the field in a line, which may follow the dash of an item: 4 in `  - a: 1`. */
function columnOfField(line: string): number {
  return line.search(/[^ -]|$/);
}
