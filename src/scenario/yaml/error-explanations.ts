import type { ParseError } from "./parse-tokens.js";

/** What people need to know about an error of the parser. */
interface ErrorExplanation {
  /** The start of the parser's message. */
  readonly message: RegExp;
  /** What is wrong. Default: the parser's words. */
  readonly reason?: string;
  /** How to mend the error if no repair does. */
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

/** The explanation of an error; `undefined` if only the parser's message is known. */
export function explanationOf(error: ParseError): ErrorExplanation | undefined {
  return explanations.find(({ message }) => message.test(error.message));
}
