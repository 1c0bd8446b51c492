import { safeOutput } from "../rules/terminal-text.js";
import type { Writable } from "../rules/writable.js";
import { maximumProblems } from "../schema/check.js";
import { type FieldPath, pathText } from "../schema/shape.js";
import {
  type FieldProblem,
  type Place,
  redactSecrets,
  type ScenarioProblem,
  type SourceText,
} from "./problems.js";

// A problem has the path of a field. `locate` finds the field in the texts of a scenario, and `showPlace` makes a line and a caret of it.

/** The place of a field's name or value; of a field that no text has, that of the nearest one around it. `undefined` for a scenario without a text. */
export type Locate = (field: FieldPath, pointAt?: "name" | "value") => Place | undefined;

/** A problem of the text, which is of no field. */
export function textProblem(
  source: SourceText,
  offset: number,
  code: FieldProblem["code"],
  message: string,
  hint?: string,
): FieldProblem {
  return { code, field: [], message, hint, place: { source, offset } };
}

/** The problems as they are shown: those without a place, then those of the scenario's own text, then those of each extended one. */
export function showProblems(
  problems: readonly FieldProblem[],
  { locate, file }: { readonly locate: Locate; readonly file: string | undefined },
): ScenarioProblem[] {
  const placed: FieldProblem[] = [];
  const sources = new Set<SourceText | undefined>([undefined, locate([])?.source]);
  const seen = new Set<string>();
  for (const problem of problems) {
    const place = problem.place ?? locate(problem.field, problem.pointAt);
    sources.add(place?.source);

    // Aliases give a field several paths: at one place, a name is shown once.
    const { field } = problem;
    const id = JSON.stringify(place === undefined ? field : [field.at(-1), place.source.file, place.offset]);
    if (seen.has(id)) continue;
    seen.add(id);
    placed.push({ ...problem, place });
  }

  const inOrder = [...sources];
  placed.sort(({ place: one }, { place: other }) => {
    const sourcesApart = inOrder.indexOf(one?.source) - inOrder.indexOf(other?.source);
    if (sourcesApart !== 0) return sourcesApart;
    return (one?.offset ?? 0) - (other?.offset ?? 0);
  });

  return placed.slice(0, maximumProblems).map(({ code, field, message, hint, place }) => {
    const shown: Writable<ScenarioProblem> = { code, field: pathText(field), message };
    if (hint !== undefined) shown.hint = hint;
    if (file !== undefined) shown.file = file;
    return place === undefined ? shown : { ...shown, ...showPlace(place) };
  });
}

/** A place for people. */
export type ShownPlace = Pick<ScenarioProblem, "file" | "line" | "column" | "source" | "caret">;

/** A longer line is not shown. */
const longestLine = 1000;

/** The line and the column of a place, and its text without keys (R46). */
export function showPlace({ source: { file, text }, offset }: Place): ShownPlace {
  // A problem at the end of the text is shown after its last visible character, not on the next empty line.
  const at = Math.max(0, Math.min(offset, text.trimEnd().length));
  const lineStart = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
  const [line = ""] = text.slice(lineStart, lineStart + longestLine + 1).split(/\r?\n/);
  const place: ShownPlace = {
    ...(file !== undefined && { file }),
    line: text.slice(0, lineStart).split("\n").length,
    column: at - lineStart + 1,
  };
  if (line.length > longestLine) return place;

  // Without keys, and without what a terminal would obey.
  const safeToShow = (part: string) => safeOutput(redactSecrets(part));
  // The caret is below the line as it is shown, where a key before it is shortened.
  const before = safeToShow(text.slice(lineStart, at));
  return { ...place, ...excerptOf(safeToShow(line), before.length) };
}

/** Of a long line, so many characters are shown around the place: with its indent, the excerpt fits in a terminal of 80 columns. */
const excerptLength = 72;

/** As wide as the space of full width. */
const wideCharacter =
  /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\u{1F300}-\u{1FAFF}]/gu;

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
  const space = textBefore.replaceAll(wideCharacter, "\u3000").replaceAll(/[^\t\u3000]/gu, " ");
  return { source: textBefore + textAfter, caret: `${space}^` };
}
