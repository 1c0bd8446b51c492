import { safeOutput } from "../../rules/terminal-text.js";
import {
  type FieldProblem,
  type HiddenParts,
  mayNameSecret,
  type Place,
  redactSecrets,
  type SourcePlace,
  type SourceText,
} from "../problems.js";

/** A problem of the text, which is of no field. */
export function textProblem(
  source: SourceText,
  offset: number,
  code: FieldProblem["code"],
  message: string,
  hint?: string,
): FieldProblem {
  return { code, field: [], message, hint, place: placeAt(source, offset) };
}

export function placeAt(source: SourceText, offset: number): SourcePlace {
  return { source, offset, describe: () => describe(source, offset) };
}

/** A longer line is not shown. */
const longestLine = 1000;

/** Describes a place; its line is shown without keys, and not at all if a part of it is hidden (R46). */
function describe(source: SourceText, offset: number): Place {
  const { file, text } = source;
  // A problem at the end of the text is shown after its last visible character, not on the next empty line.
  const at = Math.max(0, Math.min(offset, text.trimEnd().length));
  const lineStart = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
  const [line = ""] = text.slice(lineStart, lineStart + longestLine + 1).split(/\r?\n/);
  const place: Place = {
    ...(file !== undefined && { file }),
    line: text.slice(0, lineStart).split("\n").length,
    column: at - lineStart + 1,
  };
  const lineEnd = lineStart + line.length;
  const isHidden = source.hidden().some(([start, end]) => start < lineEnd && end > lineStart);
  if (line.length > longestLine || isHidden) return place;

  // Without keys, and without what a terminal would obey.
  const safeToShow = (part: string) => safeOutput(redactSecrets(part));
  // The caret is below the line as it is shown, where a key before it is shortened.
  const before = safeToShow(text.slice(lineStart, at));
  return { ...place, ...excerptOf(safeToShow(line), before.length) };
}

/** Of a long line, so many characters are shown around the place: with its indent, the excerpt fits in a terminal of 80 columns. */
const excerptLength = 72;

/** The part of a line around a position, and a caret that is right also after tabs and wide characters. */
function excerptOf(line: string, position: number): { source: string; caret: string } {
  const before = [...line.slice(0, position)];
  const after = [...line.slice(position)];
  // Each part gets half of the length, and what a shorter other part leaves free.
  const half = excerptLength / 2;
  const shownBefore = before.slice(-Math.max(half, excerptLength - after.length));
  const shownAfter = after.slice(0, excerptLength - shownBefore.length);

  const textBefore = (shownBefore.length < before.length ? "…" : "") + shownBefore.join("");
  const textAfter = shownAfter.join("") + (shownAfter.length < after.length ? "…" : "");
  return { source: textBefore + textAfter, caret: `${spaceOf(textBefore)}^` };
}

/** Space as wide as a text: a wide character is as wide as the space of full width. */
function spaceOf(text: string): string {
  const wide =
    /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\u{1F300}-\u{1FAFF}]/gu;
  return text.replaceAll(wide, "\u3000").replaceAll(/[^\t\u3000]/gu, " ");
}

// What is not shown of a text, because it may be a secret: the fields of secrets. Where a name does not say what is one, because the
// text has aliases or is no YAML, nothing of a text with a secret is shown.

/** What is hidden of a text that may be no YAML. */
export function hiddenInText(text: string): HiddenParts {
  const withoutComments = text.replaceAll(/(?<=^|\s)#.*/g, "");
  return mayNameSecret(withoutComments) ? [[0, text.length]] : [];
}
