import { indentOf } from "./lines.js";
import type { Repair } from "./repair.js";

// Guesses at the level of a line. It gets the level of a line above it, and what is inside it moves with it:
//
//   keys:                 keys:
//     main:           →     main:
//        legacy: true         legacy: true
//    other:                 other:
//      legacy: true           legacy: true

/** The repairs of one line, the level of the nearest line above it first. */
export function otherIndents(lines: readonly string[], line: number): Repair[] {
  const text = lines[line] ?? "";
  const indent = indentOf(text);
  const block = [text, ...linesInside(lines, line)];

  const repairs: Repair[] = [];
  for (const newIndent of levelsAbove(lines, line)) {
    if (newIndent === indent) continue;
    const repaired = block.map((inner) => " ".repeat(newIndent) + inner.slice(indent));
    const reason = "this line is not indented like its neighbors";
    const hint = `indent it to column ${newIndent + 1}`;
    repairs.push({ line, repaired, column: indent, reason, hint, hintForSecret: hint });
  }
  return repairs;
}

/** The lines below a line that are indented more. */
function linesInside(lines: readonly string[], line: number): string[] {
  const indent = indentOf(lines[line] ?? "");
  const inside: string[] = [];
  for (const below of lines.slice(line + 1)) {
    if (below.trim() !== "" && indentOf(below) <= indent) break;
    inside.push(below);
  }
  return inside;
}

/** The indents that a line may have next to the lines above it: an item of a list that of other dashes, a field that of other names. */
function levelsAbove(lines: readonly string[], line: number): Set<number> {
  const isItem = (lines[line] ?? "").trim().startsWith("- ");
  const levels = new Set<number>();
  for (const above of lines.slice(0, line).reverse()) {
    // Only a line with ordinary spaces shows a level.
    if (!/^ *[^\s#]/.test(above)) continue;
    levels.add(isItem ? indentOf(above) : columnOfField(above));
  }
  return levels;
}

/** The column of the field in a line, which may follow the dash of an item: 4 in `  - a: 1`. */
function columnOfField(line: string): number {
  return line.search(/[^ -]|$/);
}
