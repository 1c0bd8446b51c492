import type { ErrorCode, YAMLError } from "yaml";
import { textProblem } from "../places.js";
import type { FieldProblem, SourceText } from "../problems.js";

// A text that is not YAML is shown where the parser gave up, with what usually mends such an error. The parser's own message is not
// shown: it may quote the text, and so a secret (R46).

/** What people need to know about an error of the parser. */
interface ErrorHint {
  readonly code: ErrorCode;
  /** The start of the parser's message, where a code has several. */
  readonly message?: RegExp;
  readonly reason: string;
  readonly hint: string;
}

const notField = {
  reason: "this is not a field",
  hint: "write it as name: value, with an ordinary colon and space, or remove it",
};
const unmatched = { reason: "the brackets do not match", hint: "close each { and [ once" };
const needsQuotes = {
  reason: "this text needs quotes",
  hint: 'put double quotes around it, and write a quote in it as \\"',
};
const otherLevel = {
  reason: "this line is not indented like its neighbors",
  hint: "indent what belongs together by the same number of spaces",
};

/** The first row that fits counts. */
const hints: readonly ErrorHint[] = [
  {
    code: "TAB_AS_INDENT",
    reason: "a tab is no indent",
    hint: "indent with spaces; YAML does not allow tabs",
  },
  { code: "MULTILINE_IMPLICIT_KEY", ...notField },
  { code: "MISSING_CHAR", message: /^Implicit/, ...notField },
  {
    code: "MISSING_CHAR",
    message: /^Missing closing/,
    reason: "a quote is not closed",
    hint: "close it on the line where it starts, here or above",
  },
  { code: "MISSING_CHAR", message: /^Sequence item/, ...otherLevel },
  {
    code: "MISSING_CHAR",
    reason: "a comma or a colon is missing",
    hint: "write a comma between two fields, and a colon after a name",
  },
  { code: "BAD_INDENT", message: /^Flow/, ...unmatched },
  { code: "BAD_INDENT", ...otherLevel },
  {
    code: "BLOCK_AS_IMPLICIT_KEY",
    reason: "a value has fields of its own",
    hint: "put double quotes around a text with a colon, or indent the next line like this one",
  },
  {
    code: "BLOCK_IN_FLOW",
    reason: "a value in brackets has fields of its own",
    hint: "put double quotes around a text with a colon, and a comma between two fields",
  },
  { code: "UNEXPECTED_TOKEN", message: /^Unexpected flow-(?:map|seq)-end/, ...unmatched },
  {
    code: "UNEXPECTED_TOKEN",
    message: /^Unexpected scalar/,
    reason: "this text is behind the end of another one",
    hint: "put double quotes around a text with quotes or signs in it, or indent the line like its neighbors",
  },
  { code: "UNEXPECTED_TOKEN", ...needsQuotes },
  { code: "BAD_SCALAR_START", ...needsQuotes },
  { code: "BAD_DQ_ESCAPE", reason: "this is no escape", hint: "write a backslash in double quotes as \\\\" },
  {
    code: "NON_STRING_KEY",
    reason: "a name must be a text",
    hint: "write a plain name, or double quotes around {{ }}",
  },
  {
    code: "TAG_RESOLVE_FAILED",
    reason: "this tag is not known",
    hint: "remove it, or put quotes around a text with !",
  },
];

/** The problem of a text that is not YAML, with how to fix it. */
export function syntaxProblem({ code, message, pos }: YAMLError, source: SourceText): FieldProblem {
  const row = hints.find((one) => one.code === code && (one.message?.test(message) ?? true));
  const { reason = "the parser does not understand this", hint } = row ?? {};
  const offset = offsetOfField(source.text, pos[0]);
  if (code !== "TAG_RESOLVE_FAILED") {
    return textProblem(source, offset, "yaml_syntax", `not valid YAML: ${reason}`, hint);
  }
  return textProblem(source, offset, "not_plain_data", `not plain data: ${reason}`, hint);
}

/** Where an error is shown: one at a comment is about the field after it. */
function offsetOfField(text: string, offset: number): number {
  const lineStart = offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
  const toField = text.slice(lineStart).search(/^[ \t]*[^\s#]/m);
  return toField <= 0 ? offset : lineStart + toField;
}
