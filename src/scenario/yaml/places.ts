import { safeOutput } from "../../rules/terminal-text.js";
import { redactSecrets } from "../redact-secrets.js";
import type { Place, SourcePlace, SourceText } from "../source-text.js";
import { excerptOf } from "./excerpt.js";
import { hasPartOfSecret } from "./secret-lines.js";

export function createSource(text: string, file?: string): SourceText {
  // YAML allows a lone carriage return as a line end; a line feed is one for every reader and keeps the offsets.
  return { file, text: text.replace(/^\uFEFF/, "").replace(/\r(?!\n)/g, "\n") };
}

export function placeAt(source: SourceText, offset: number): SourcePlace {
  return { source, offset, describe: () => describe(source, offset) };
}

/** A longer line is not shown. */
const longestLine = 1000;

/** Describes a place; the line is shown without keys, and not at all if it contains a part of a secret (R46). */
function describe(source: SourceText, offset: number): Place {
  const { file, text } = source;
  // A problem at the end of the text is shown after its last visible character, not on the next empty line.
  const at = Math.max(0, Math.min(offset, text.trimEnd().length));
  const lineStart = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
  const [line = ""] = text.slice(lineStart, lineStart + longestLine + 1).split(/\r?\n/);
  const place: Place = {
    ...(file !== undefined && { file }),
    line: lineNumberAt(text, lineStart),
    column: at - lineStart + 1,
  };
  if (line.length > longestLine || hasPartOfSecret(source, at)) return place;

  // The caret is below the line as it is shown, where a key before it is shortened.
  const shownBefore = safeToShow(text.slice(lineStart, at));
  const excerpt = excerptOf(safeToShow(line), shownBefore.length);
  return { ...place, source: excerpt.text, caret: excerpt.caret };
}

/** A part of a line without keys, and without what a terminal would obey. */
function safeToShow(part: string): string {
  return safeOutput(redactSecrets(part));
}

/** The number of the line that starts at an offset. */
function lineNumberAt(text: string, lineStart: number): number {
  let line = 1;
  for (let end = text.indexOf("\n"); end !== -1 && end < lineStart; end = text.indexOf("\n", end + 1)) {
    line += 1;
  }
  return line;
}
