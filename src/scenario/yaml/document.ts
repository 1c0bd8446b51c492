import type { Document } from "yaml";
import { scenarioLimits } from "../format/scenario-limits.js";
import type { SourceText } from "../source-text.js";
import {
  firstErrorIn,
  type ParseError,
  parseTokens,
  type Stopped,
  shortenHint,
  stoppedAt,
} from "./parse-tokens.js";
import { syntaxProblem } from "./syntax-problem.js";
import { mergeKeyProblem } from "./text-problem.js";

// A text becomes one document of YAML.

interface OneDocument {
  readonly kind: "document";
  readonly document: Document.Parsed;
}

/** Reads the only document of a text. */
export function readDocument(source: SourceText): OneDocument | Stopped {
  const { text } = source;
  const { bytes } = scenarioLimits;
  if (text.length > bytes || new TextEncoder().encode(text).length > bytes) {
    const message = `the scenario is larger than ${bytes / 2 ** 20} MiB`;
    return stoppedAt(0, { code: "too_large", message, hint: shortenHint });
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finds characters that no text contains
  const binary = text.search(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/);
  if (binary !== -1) {
    return stoppedAt(binary, {
      code: "not_text",
      message: "the file is not text in UTF-8",
      hint: "save it as plain text in UTF-8",
    });
  }

  const parsed = parseTokens(text);
  if (parsed.kind === "stopped") return parsed;
  const { first: document, second } = parsed;
  if (second !== undefined) {
    return stoppedAt(second.range[0], {
      code: "several_documents",
      message: "a second document starts here",
      hint: "put one scenario into a file",
    });
  }
  const error = firstErrorIn(document);
  if (error !== undefined) return stoppedByError(error, source);
  return { kind: "document", document };
}

/** Explains an error of the parser. */
function stoppedByError(error: ParseError, source: SourceText): Stopped {
  // Formatters write merge keys with this tag.
  const textAtError = source.text.slice(error.offset, error.offset + 100);
  if (/^!!merge +<</.test(textAtError)) return stoppedAt(error.offset, mergeKeyProblem);

  const { offset, reason, hint } = syntaxProblem(error, source);
  if (error.code === "TAG_RESOLVE_FAILED") {
    return stoppedAt(offset, { code: "not_plain_data", message: `not plain data: ${reason}`, hint });
  }
  return stoppedAt(offset, { code: "yaml_syntax", message: `not valid YAML: ${reason}`, hint });
}
