import { hasSandboxMark } from "../../rules/key-text.js";

/** The variables that a client reads, by their names. */
export type ClientVariables = Readonly<Record<string, string>>;

/** An assignment of a `.env` file, to the end of its last line. */
interface Assignment {
  readonly kind: "assignment";
  /** The line up to the value: `export NAME = `. */
  readonly start: string;
  readonly name: string;
  /** The value as it is written. In quotes, it may have several lines. */
  readonly value: string;
  /** What follows in its line, such as a comment, with the line end. */
  readonly end: string;
}

/** The lines before, between and after assignments. */
interface OtherLines {
  readonly kind: "other";
  readonly text: string;
}

/** The mark of UTF-8 at the start of a file, as Latin-1 reads it. */
const byteOrderMark = "\u00EF\u00BB\u00BF";

// The parts of an assignment, as in `export NAME = "a" # a comment`.
/** `export NAME = `. Spaces before a comment are not of it: of `NAME=  # a comment`, it has only `NAME=`. */
const startPattern = /[ \t]*(?:export[ \t]+)?(?<name>[\w.-]+)[ \t]*=(?:(?![ \t]+#)[ \t]+)?/;
/** `"a \" b"`, `'a'` or `` `a` ``: each may have several lines. */
const quotedPattern = /"(?:\\[\s\S]|[^"\\])*"|'[^']*'|`[^`]*`/;
/** `a b`: up to a comment, or to the end of the line without the spaces there. */
const unquotedPattern = /[^\r\n]*?(?=[ \t]+#|[ \t]*$)/;
/** ` # a comment` and the line end. */
const endPattern = /.*(?:\r?\n)?/;

/** Its groups have the names of an assignment's members. */
const assignmentPattern = new RegExp(
  `^(?<start>${startPattern.source})(?<value>${quotedPattern.source}|${unquotedPattern.source})(?<end>${endPattern.source})`,
  "gm",
);

/** Reads the parts of a `.env` file without a byte order mark. */
function readParts(text: string): (Assignment | OtherLines)[] {
  const parts: (Assignment | OtherLines)[] = [];
  let endOfPart = 0;
  for (const match of text.matchAll(assignmentPattern)) {
    const { start = "", name = "", value = "", end = "" } = match.groups ?? {};
    parts.push({ kind: "other", text: text.slice(endOfPart, match.index) });
    parts.push({ kind: "assignment", start, name, value, end });
    endOfPart = match.index + match[0].length;
  }
  parts.push({ kind: "other", text: text.slice(endOfPart) });
  return parts;
}

/** The number of the first line that no `.env` file has: neither an assignment nor a comment, and not empty. */
export function findForeignLine(text: string): number | undefined {
  let number = 1;
  for (const part of readParts(withoutMark(text))) {
    if (part.kind === "assignment") {
      number += countLineEnds(part.value + part.end);
      continue;
    }
    const index = part.text.split("\n").findIndex(isForeign);
    if (index !== -1) return number + index;
    number += countLineEnds(part.text);
  }
  return undefined;
}

/** Whether a line outside of assignments is neither empty nor a comment. */
function isForeign(line: string): boolean {
  return !/^\s*(?:#.*)?\s*$/.test(line);
}

function countLineEnds(text: string): number {
  return text.split("\n").length - 1;
}

function withoutMark(text: string): string {
  return text.startsWith(byteOrderMark) ? text.slice(byteOrderMark.length) : text;
}

/**
 * Returns the text of a `.env` file with these variables: each where it is, or at the end. It lacks the variables of `previous`
 * that are not among them, and the keys of other sandboxes in `SVC_API_KEY` and `SVC_KEY_…`. All other lines stay.
 */
export function withVariables(text: string, variables: ClientVariables, previous: ClientVariables): string {
  const content = withoutMark(text);
  const missing = new Map(Object.entries(variables));
  let result = text.slice(0, text.length - content.length);
  for (const part of readParts(content)) {
    if (part.kind === "other") {
      result += part.text;
      continue;
    }

    const { start, name, value, end } = part;
    missing.delete(name);
    if (Object.hasOwn(variables, name)) result += start + variables[name] + end;
    else if (!isStale(part, previous)) result += start + value + end;
  }

  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  if (result !== "" && !result.endsWith("\n")) result += lineEnd;
  // Values have no quotes, which not every reader of .env files removes. They need none: in an assignment, no shell expands the
  // brackets of an IPv6 address.
  for (const [name, value] of missing) result += `${name}=${value}${lineEnd}`;
  return result;
}

/** Whether an assignment is of an earlier call, or sets one of our variables to the key of another sandbox. */
function isStale({ name, value }: Assignment, previous: ClientVariables): boolean {
  if (Object.hasOwn(previous, name)) return true;
  const unquoted = value.replace(/^(["'`])(.*)\1$/s, "$2");
  const isOfKey = name === "SVC_API_KEY" || name.startsWith("SVC_KEY_");
  return isOfKey && hasSandboxMark(unquoted);
}
