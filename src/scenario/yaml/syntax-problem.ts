import type { YAMLError } from "yaml";
import type { FieldProblem, SourceText } from "../problems.js";
import { mistakesInNames } from "./nodes.js";
import { firstErrorIn, parseYaml } from "./parse-yaml.js";
import { hasPartOfSecret, indentOf, isEmptyOrComment, textProblem } from "./places.js";

// A text that is not YAML has an error where the parser gave up, which is often not where the mistake is. A repair is a guess at
// the mistake: changed lines. It is named only if the parser finds no error in the changed text; so it does not matter that a
// guess also fits a comment or a quoted text. Lines and columns count from 0.

/** Lines that may be what their author meant, and what was wrong then. */
interface Repair {
  /** The first of the lines that change. */
  readonly line: number;
  /** Where it is wrong. */
  readonly column: number;
  /** What the lines become from there on; as many lines. */
  readonly repaired: readonly string[];
  /** What is wrong: the end of the sentence `not valid YAML: …`. */
  readonly reason: string;
  readonly hint: string;
  /** The hint if the line has a part of a secret: it shows no text of the line. */
  readonly hintForSecret: string;
}

// Each repair is parsed, and each character takes about 3 µs: all repairs of a text together take at most half a second. So a long
// text has fewer of them: one of 15,000 characters has ten.
const maxParsed = 150_000;
/** Some patterns of corrections take quadratic time in a line: nobody has mistyped a longer one. */
const longestCorrected = 1000;

/** The problem of a text that is not YAML, with how to fix it. */
export function syntaxProblem(error: YAMLError, source: SourceText): FieldProblem {
  const { text } = source;
  const [offsetOfError] = error.pos;
  // Formatters write merge keys with this tag.
  if (/^!!merge +<</.test(text.slice(offsetOfError, offsetOfError + 100))) {
    return textProblem(
      source,
      offsetOfError,
      "yaml_syntax",
      mistakesInNames.mergeKey.message,
      mistakesInNames.mergeKey.hint,
    );
  }

  const lines = text.split("\n");
  const lineOfError = text.slice(0, offsetOfError).split("\n").length - 1;
  // An error at a comment is about the field after it.
  const fieldLine = firstFieldFrom(lines, lineOfError);
  const explanation = explanations.find(({ message }) => message.test(error.message));
  const notYaml = (offset: number, reason: string, hint?: string) => {
    if (error.code !== "TAG_RESOLVE_FAILED") {
      return textProblem(source, offset, "yaml_syntax", `not valid YAML: ${reason}`, hint);
    }
    return textProblem(source, offset, "not_plain_data", `not plain data: ${reason}`, hint);
  };

  const maxTries = Math.floor(maxParsed / text.length);
  const repair = repairThatMends(lines, fieldLine, explanation?.mayBeIndent, maxTries);
  if (repair !== undefined) {
    const lineStart = offsetOfLine(lines, repair.line);
    const hint = hasPartOfSecret(source, lineStart) ? repair.hintForSecret : repair.hint;
    return notYaml(lineStart + repair.column, repair.reason, hint);
  }

  const offset = fieldLine === lineOfError ? offsetOfError : offsetOfLine(lines, fieldLine);
  let { reason } = explanation ?? {};
  if (reason === undefined) {
    // The parser's message, as the end of a sentence. What follows its colon is from the text, as in `Unresolved tag: !env`.
    const { message } = error;
    const shown = hasPartOfSecret(source, offset) ? message.replace(/:.*/, "") : message;
    reason = shown.slice(0, 1).toLowerCase() + shown.slice(1);
  }
  return notYaml(offset, reason, explanation?.hint);
}

/** The first line from `line` on that is neither empty nor a comment; the last one if there is none. */
function firstFieldFrom(lines: readonly string[], line: number): number {
  const lastLine = lines.length - 1;
  let fieldLine = line;
  while (fieldLine < lastLine && isEmptyOrComment(lines[fieldLine] ?? "")) fieldLine += 1;
  return Math.min(fieldLine, lastLine);
}

/** The offset of the start of a line. */
function offsetOfLine(lines: readonly string[], line: number): number {
  let offset = 0;
  for (const before of lines.slice(0, line)) offset += before.length + 1;
  return offset;
}

/** The first repair after which the text is YAML, of at most `maxTries`: those of single lines come first. */
function repairThatMends(
  lines: readonly string[],
  fieldLine: number,
  mayBeIndent: true | undefined,
  maxTries: number,
): Repair | undefined {
  // The line of the error, or the field after it, may be on a wrong level. Some tries are left for these.
  const indents: Repair[] = [];
  if (mayBeIndent) {
    const lineAfter = firstFieldFrom(lines, fieldLine + 1);
    indents.push(...otherIndents(lines, fieldLine), ...otherIndents(lines, lineAfter));
  }
  const triedIndents = indents.slice(0, Math.ceil(maxTries / 4));

  let tried = triedIndents.length;
  for (const correction of lineCorrections(lines)) {
    if (tried >= maxTries) break;
    tried += 1;
    if (mends(correction, lines)) return correction;
  }
  return triedIndents.find((repair) => mends(repair, lines));
}

/** Whether a text is YAML once it is repaired. */
function mends({ line, repaired }: Repair, lines: readonly string[]): boolean {
  const repairedText = lines.toSpliced(line, repaired.length, ...repaired).join("\n");
  try {
    return firstErrorIn(parseYaml(repairedText)[0]) === undefined;
  } catch {
    return false;
  }
}

/** What people need to know about an error of the parser if no repair mends it. */
interface ErrorExplanation {
  /** The start of the parser's message. */
  readonly message: RegExp;
  /** What is wrong. Default: the parser's words. */
  readonly reason?: string;
  readonly hint: string;
  /** Whether a line on another level causes this error. In other errors, an indent that mends them only hides them in a block of text. */
  readonly mayBeIndent?: true;
}

const explanations: readonly ErrorExplanation[] = [
  { message: /^Tabs are/, hint: "indent with spaces; YAML does not allow tabs" },
  {
    message: /^All |^A block|^Sequence item/,
    hint: "indent what belongs together by the same number of spaces",
    mayBeIndent: true,
  },
  {
    message: /^Unexpected scalar/,
    hint: "check the quotes of this text, and the indent of the lines above",
    mayBeIndent: true,
  },
  {
    message: /^Nested/,
    hint: "check the brackets and indents above, and quote a text with a colon",
    mayBeIndent: true,
  },
  { message: /^Flow |-end token/, reason: "the brackets do not match", hint: "close each { and [ once" },
  { message: /^Missing , |^Block/, hint: "write a colon after a name, and separate the fields with commas" },
  {
    message: /^Implicit /,
    reason: "this is not a field",
    hint: "write it as name: value, or remove it",
    mayBeIndent: true,
  },
  { message: /^With stringKeys/, reason: "a name must be a text", hint: "write a plain name" },
  { message: /^Unresolved tag/, hint: "remove the tag" },
];

// Guesses at a mistake inside a single line. A pattern also fits lines without a mistake: only a correction that makes the whole
// text YAML is named, and of several the first.
//
// Over each pattern is a line before and after its correction; `^^^` marks what its group `mistake` has.

interface Correction {
  /** Its group `mistake` is what changes, and `before` what stands in front of it. */
  readonly pattern: RegExp;
  /** Whether the same mistake is probably in the lines below, too: an editor or a copied text has made it. */
  readonly isInEachLine?: true;
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
  // The indent has no ordinary spaces, as in a text that was copied from a page.
  //
  // ␣␣type: bank             →    type: bank
  // ^^
  {
    pattern: /^(?<before> *(?:- *)?)(?<mistake>[^\S\t ][^\S\t]*)(?=\S)/g,
    isInEachLine: true,
    // The space of full width looks like two.
    meant: (indent) => indent.replaceAll("\u3000", "  ").replace(/\S|\s/g, " "),
    reason: mistakesInNames.otherSpaces.message,
    hint: mistakesInNames.otherSpaces.hint,
  },
  // A colon of full width, as Chinese and Japanese keyboards write it.
  //
  // type： bank              →  type: bank
  //     ^^
  {
    pattern: /(?<before>(?:^|[{,])[ -]*[\w-]+)(?<mistake> *：\s*)/g,
    isInEachLine: true,
    meant: () => ": ",
    reason: mistakesInNames.wideColon.message,
    hint: mistakesInNames.wideColon.hint,
  },
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
  // After such a name, a text without quotes has a colon and a space, or starts with a sign that means something in YAML; a comment
  // is no part of it.
  //
  // name: Banks: two # note  →  name: "Banks: two" # note
  //       ^^^^^^^^^^
  // name: @bank              →  name: "@bank", and so with %, *, `, |, >, "- " and "? "
  //       ^^^^^
  { pattern: /^(?<before>[ -]*[\w-]+: +)(?<mistake>[^\s"'{[|>#].*?: .*?)(?: #.*)?$/gm, ...needsQuotes },
  {
    pattern: /^(?<before>[ -]*[\w-]+: +)(?<mistake>(?:[@%*`]|[|>] *[^\s\d+#-]|[-?] ).*?)(?: #.*)?$/gm,
    ...needsQuotes,
  },
  // The same in braces, up to the next comma or brace, or to the end of the line.
  //
  // { name: Banks: two }     →  { name: "Banks: two" }
  //         ^^^^^^^^^^
  {
    pattern:
      /(?<before>(?:^|[{,]) *[\w-]+: +)(?<mistake>[^\s"'{}[\]|>#,][^{}[\],]*?: [^{}[\],]*?)(?= *(?:[,}]|$))/g,
    ...needsQuotes,
  },
  {
    pattern: /(?<before>(?:^|[{,]) *[\w-]+: +)(?<mistake>(?:[@%*`|>]|[-?] )[^{}[\],]*?)(?= *(?:[,}]|$))/g,
    ...needsQuotes,
  },
  // A line has a name and one word, without a colon.
  //
  // type bank                →  type: bank
  // ^^^^^^^^^
  {
    pattern: /^(?<before>[ -]*)(?<mistake>[\w-]+ +[^\s:#]+)$/gm,
    meant: (field) => field.replace(/ +/, ": "),
    reason: "there is no colon after the name",
    hintForSecret: "write a colon after it",
  },
  // A placeholder of another tool, which starts with a brace.
  //
  // secret: ${SECRET}        →  secret: "${SECRET}", and so with {{ SECRET }}
  //         ^^^^^^^^^
  {
    pattern: /(?<before>: +)(?<mistake>\$\{[^{}]*\}|\{\{[^{}]*\}\})/g,
    meant: JSON.stringify,
    reason: "variables are not replaced here",
    hint: "write the value",
  },
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
function* lineCorrections(lines: readonly string[]): Generator<Repair> {
  for (const { pattern, reason, isInEachLine, ...correction } of corrections) {
    for (const [line, text] of lines.entries()) {
      if (text.length > longestCorrected) continue;
      for (const match of text.matchAll(pattern)) {
        const { before = "", mistake = "" } = match.groups ?? {};
        const column = match.index + before.length;
        const meant = correction.meant(mistake);
        const { hint = `write ${meant}`, hintForSecret = hint } = correction;
        const repaired = [text.slice(0, column) + meant + text.slice(column + mistake.length)];
        if (isInEachLine) {
          for (const below of lines.slice(line + 1)) repaired.push(correctedLine(below, pattern, correction));
        }
        yield { line, column, repaired, reason, hint, hintForSecret };
      }
    }
  }
}

/** The line with what its author meant in place of each such mistake. */
function correctedLine(text: string, pattern: RegExp, { meant }: Pick<Correction, "meant">): string {
  if (text.length > longestCorrected) return text;
  return text.replace(pattern, (_, before, mistake) => before + meant(mistake));
}

// Guesses at the level of a line. It gets the level of a line above it, and what is inside it moves with it:
//
//   keys:                 keys:
//     main:           →     main:
//        legacy: true         legacy: true
//    other:                 other:
//      legacy: true           legacy: true

/** The repairs of one line, the level of the nearest line above it first. */
function otherIndents(lines: readonly string[], line: number): Repair[] {
  const text = lines[line] ?? "";
  const indent = indentOf(text);
  const block = [text];
  for (const below of lines.slice(line + 1)) {
    if (below.trim() !== "" && indentOf(below) <= indent) break;
    block.push(below);
  }

  const repairs: Repair[] = [];
  for (const newIndent of levelsAbove(lines, line)) {
    if (newIndent === indent) continue;
    const repaired = block.map((inner) => " ".repeat(newIndent) + inner.slice(indent));
    const reason = "this line is not indented like its neighbors";
    const hint = `indent it to column ${newIndent + 1}`;
    repairs.push({ line, column: indent, repaired, reason, hint, hintForSecret: hint });
  }
  return repairs;
}

/** The indents that a line may have next to the lines above it: an item of a list that of other dashes, a field that of other names. */
function levelsAbove(lines: readonly string[], line: number): Set<number> {
  const isItem = (lines[line] ?? "").trim().startsWith("- ");
  const levels = new Set<number>();
  for (const above of lines.slice(0, line).reverse()) {
    // Only a line with ordinary spaces shows a level.
    if (!/^ *[^\s#]/.test(above)) continue;
    // The field of a line may follow the dash of an item: 4 in `  - a: 1`.
    levels.add(isItem ? indentOf(above) : above.search(/[^ -]|$/));
  }
  return levels;
}
