import { hasSandboxMark } from "../../rules/keys/key-text.js";

/** The variables that a client reads, by their names. */
export type ClientVariables = Readonly<Record<string, string>>;

/** An assignment of a `.env` file, to the end of its last line. Its parts, of `export A = "1" # one`: */
interface Assignment {
  readonly kind: "assignment";
  /** `export A = ` */
  readonly start: string;
  /** `A` */
  readonly name: string;
  /** `"1"`: as it is written. In quotes, it may have several lines. */
  readonly value: string;
  /** ` # one`, with the line end */
  readonly end: string;
}

/** A line that assigns nothing, with its end. */
interface OtherLine {
  readonly kind: "other";
  readonly text: string;
}

/** The mark of UTF-8 at the start of a file, as Latin-1 reads it. */
const byteOrderMark = "\u00EF\u00BB\u00BF";

/** Reads the parts of a `.env` file without a byte order mark. */
function readParts(text: string): (Assignment | OtherLine)[] {
  const parts: (Assignment | OtherLine)[] = [];
  let rest = text;
  while (rest !== "") {
    const [beforeValue = "", name] = /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=/.exec(rest) ?? [];
    if (name === undefined) {
      const line = restOfLine(rest);
      parts.push({ kind: "other", text: line });
      rest = rest.slice(line.length);
      continue;
    }

    rest = rest.slice(beforeValue.length);
    const { blanks, value } = readValue(rest);
    rest = rest.slice(blanks.length + value.length);
    const end = restOfLine(rest);
    rest = rest.slice(end.length);
    parts.push({ kind: "assignment", start: beforeValue + blanks, name, value, end });
  }
  return parts;
}

/** The text up to the end of its first line, with the line end. */
function restOfLine(text: string): string {
  const index = text.indexOf("\n");
  return index === -1 ? text : text.slice(0, index + 1);
}

/** `"a \" b"`, `'a'` or `` `a` ``: each may have several lines. */
const quotedValue = /^(?:"(?:\\[\s\S]|[^"\\])*"|'[^']*'|`[^`]*`)/;

/** The value at the start of the text after `=`, and the blanks before it. */
function readValue(text: string): { readonly blanks: string; readonly value: string } {
  const [blanks = ""] = /^[ \t]*/.exec(text) ?? [];
  const afterBlanks = text.slice(blanks.length);
  // `A=  # a comment` has an empty value.
  if (blanks !== "" && afterBlanks.startsWith("#")) return { blanks: "", value: "" };
  const [quoted] = quotedValue.exec(afterBlanks) ?? [];
  if (quoted !== undefined) return { blanks, value: quoted };

  // Without quotes, it ends before a comment, and before the blanks at the end of the line.
  const [line = ""] = /^[^\r\n]*/.exec(afterBlanks) ?? [];
  const value = line.replace(/[ \t]+#.*$/, "").replace(/[ \t]+$/, "");
  return { blanks, value };
}

/** The number of the first line that no `.env` file has: neither an assignment nor a comment, and not empty. */
export function findForeignLine(text: string): number | undefined {
  let number = 1;
  for (const part of readParts(withoutMark(text))) {
    if (part.kind === "assignment") {
      number += countLineEnds(part.value + part.end);
      continue;
    }
    if (!assignsNothing(part.text)) return number;
    number += 1;
  }
  return undefined;
}

function assignsNothing(line: string): boolean {
  return /^\s*(?:#.*)?\s*$/.test(line);
}

function countLineEnds(text: string): number {
  return text.split("\n").length - 1;
}

function withoutMark(text: string): string {
  return text.startsWith(byteOrderMark) ? text.slice(byteOrderMark.length) : text;
}

/**
 * Returns the text of a `.env` file with these variables: each where it is, or at the end. What another sandbox has left there
 * leaves: its keys in `SVC_API_KEY` and `SVC_KEY_…`, and its `SVC_CONTROL_URL`. All other lines stay.
 */
export function withVariables(text: string, variables: ClientVariables): string {
  const content = withoutMark(text);
  const toAppend = new Map(Object.entries(variables));
  let result = text.slice(0, text.length - content.length);
  for (const part of readParts(content)) {
    if (part.kind === "other") {
      result += part.text;
      continue;
    }

    const { start, name, value, end } = part;
    toAppend.delete(name);
    if (Object.hasOwn(variables, name)) result += start + variables[name] + end;
    else if (!isOfAnotherSandbox(part)) result += start + value + end;
  }

  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  if (result !== "" && !result.endsWith("\n")) result += lineEnd;
  // Values have no quotes, which not every reader of .env files removes. They need none: in an assignment, no shell expands the
  // brackets of an IPv6 address.
  for (const [name, value] of toAppend) result += `${name}=${value}${lineEnd}`;
  return result;
}

/** Whether an assignment sets a variable that clients read to what only another sandbox has. */
function isOfAnotherSandbox({ name, value }: Assignment): boolean {
  // It goes with the SVC_BASE_URL of that sandbox.
  if (name === "SVC_CONTROL_URL") return true;
  const unquoted = value.replace(/^(["'`])(.*)\1$/s, "$2");
  const isOfKey = name === "SVC_API_KEY" || name.startsWith("SVC_KEY_");
  return isOfKey && hasSandboxMark(unquoted);
}
