import type { Repair } from "./repair.js";

// Guesses at a mistake inside a single line. A pattern also fits lines without a mistake: only a correction that makes the whole
// text YAML is named, and of several the first.
//
// Over each pattern is a line before and after its correction; `^^^` marks what its group `mistake` has.

interface Correction {
  /** Its group `mistake` is what changes, and `before` what stands in front of it. */
  readonly pattern: RegExp;
  /** What the author of the mistake meant. */
  readonly meant: (mistake: string) => string;
  readonly reason: string;
  /** Default: `write` and what was meant. */
  readonly hint?: string;
  /** The hint in a line that may have a secret. Default: the same hint, which shows none. */
  readonly hintForSecret?: string;
}

const needsQuotes = {
  meant: JSON.stringify,
  reason: "this text needs double quotes",
  hintForSecret: "put double quotes around it",
};

const corrections: readonly Correction[] = [
  // A quote after a space or a sign has no second one up to the end of the line, or to the brackets and commas there.
  //
  // name: "Village Bank      →  name: "Village Bank"
  //       ^^^^^^^^^^^^^
  {
    pattern: /^(?<before>|.*?[\s[{(,:-])(?<mistake>"[^"]*?|'[^']*?)[ ,}\]]*$/gm,
    meant: (text) => text + text.charAt(0),
    reason: "this quote is not closed on its line",
    hint: "close it",
  },
  // A name at the start of the line, after spaces and dashes, has a colon that no ordinary space follows.
  //
  // version:1                →  version: 1
  // ^^^^^^^^^
  {
    pattern: /^(?<before>[ -]*?)(?<mistake>[\w-]+:[^\S ]*[^\s:].*)$/gm,
    meant: (field) => field.replace(/:\s*/, ": "),
    reason: "there is no ordinary space after the colon",
    hintForSecret: "put an ordinary space after it",
  },
  // After such a name, a text without quotes has a colon and a space; a comment is no part of it.
  //
  // name: Banks: two # note  →  name: "Banks: two" # note
  //       ^^^^^^^^^^
  { pattern: /^(?<before>[ -]*[\w-]+: +)(?<mistake>[^\s"'{[|>#].*?: .*?)(?: #.*)?$/gm, ...needsQuotes },
  // A placeholder of another tool, which starts with a brace.
  //
  // secret: ${SECRET}        →  secret: "${SECRET}", and so with {{ SECRET }}
  //         ^^^^^^^^^
  { pattern: /(?<before>: +)(?<mistake>\$\{[^{}]*\}|\{\{[^{}]*\}\})/g, ...needsQuotes },
  // In braces, a path has braces.
  //
  // { path: /loans/{id} }    →  { path: "/loans/{id}" }
  //         ^^^^^^^^^^^
  {
    pattern: /(?<before>\{.*?: +)(?<mistake>\/[^\s,"'{}]*(?:\{[\w-]+\}[^\s,"'{}]*)+)/g,
    ...needsQuotes,
  },
];

/** The repairs of single lines: those of the first correction for all lines, then those of the next. */
export function lineCorrections(lines: readonly string[]): Repair[] {
  const repairs: Repair[] = [];
  for (const correction of corrections) {
    for (const [line, text] of lines.entries()) {
      for (const match of text.matchAll(correction.pattern)) repairs.push(corrected(line, match, correction));
    }
  }
  return repairs;
}

function corrected(line: number, match: RegExpExecArray, correction: Correction): Repair {
  const { before = "", mistake = "" } = match.groups ?? {};
  const text = match.input;
  const column = match.index + before.length;
  const meant = correction.meant(mistake);
  const hint = correction.hint ?? `write ${meant}`;
  return {
    line,
    repaired: [text.slice(0, column) + meant + text.slice(column + mistake.length)],
    column,
    reason: correction.reason,
    hint,
    hintForSecret: correction.hintForSecret ?? hint,
  };
}
