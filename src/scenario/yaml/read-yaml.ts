import { type Document, isScalar, stringify } from "yaml";
import { yamlNotation } from "../../schema/notation.js";
import { maximumProblems } from "../../schema/problem.js";
import { scenarioLimits } from "../format/fields.js";
import type { FieldProblem, SourceText } from "../problems.js";
import { nowhere, readPlain, type WrittenScenario } from "../written-scenario.js";
import { checkNodes, isNameWithWideColon, repeatLessHint, ScenarioNodes, wideColon } from "./nodes.js";
import { firstErrorIn, isEmpty, parseYaml, Stop, shortenHint } from "./parse-yaml.js";
import { secretsIn, textProblem } from "./places.js";
import { syntaxProblem } from "./syntax-problem.js";

/**
 * Reads a scenario from YAML to values with their places. Never throws: what is wrong with the text is in `problems`.
 *
 * The text becomes a document, whose names and aliases are checked; its values are copied as plain data.
 */
export function readYaml(text: string, file: string | undefined): WrittenScenario {
  // YAML allows a lone carriage return as a line end; a line feed is one for every reader and keeps the offsets.
  const parsed: SourceText = { file, text: text.replace(/^\uFEFF/, "").replace(/\r(?!\n)/g, "\n") };
  // `version: 1` at the start of a line, or `{ "version": 1`; not `version: 1.0.0`.
  const startsLikeScenario = /^(?:\{\s*)?["']?version["']?\s*:\s*["']?1(?![^\s"',}])/m.test(parsed.text);
  const withoutFields = (problems: readonly FieldProblem[]): WrittenScenario => ({
    file,
    text,
    notation: yamlNotation,
    startsLikeScenario,
    fields: undefined,
    texts: [],
    locate: () => nowhere,
    problems: problems.slice(0, maximumProblems),
  });

  const document = readDocument(parsed);
  if ("code" in document) return withoutFields([document]);

  const source = withSecrets(parsed, document);
  const { contents } = document;
  if (contents === null || isEmpty(contents)) {
    const [offset] = contents?.range ?? [0];
    const hint = 'start with "version: 1" and "organizations:"';
    return withoutFields([textProblem(source, offset, "empty", "the scenario is empty", hint)]);
  }

  if (isScalar(contents) && isNameWithWideColon(String(contents.value))) {
    const { message, hint } = wideColon;
    return withoutFields([textProblem(source, contents.range?.[0] ?? 0, "yaml_syntax", message, hint)]);
  }

  const { targets, problems } = checkNodes(document, source);
  // A text with duplicate fields can still be read and checked; with any other problem of its nodes, it cannot.
  if (problems.some(({ code }) => code !== "duplicate_field")) return withoutFields(problems);

  const nodes = new ScenarioNodes(source, contents, targets);
  const plain = readPlain(nodes.valueOf(contents), scenarioLimits.membersAndItems);
  if (plain.fields !== undefined) {
    const locate: WrittenScenario["locate"] = (field, pointAt) => nodes.locate(field, pointAt);
    return { ...withoutFields(problems), fields: plain.fields, texts: [source], locate };
  }
  const placedProblems = plain.problems.map((problem): FieldProblem => {
    const { place } = nodes.locate(problem.field, problem.pointAt ?? "value");
    // Where a text has aliases, they are why it has too many parts: they repeat some.
    if (problem.code !== "too_large" || targets.size === 0) return { ...problem, place };
    return { ...problem, place, message: "the aliases (*) repeat too much", hint: repeatLessHint };
  });
  return withoutFields([...problems, ...placedProblems]);
}

/** The only document of a text, or why it has none. */
function readDocument(source: SourceText): Document.Parsed | FieldProblem {
  const { text } = source;
  const { bytes } = scenarioLimits;
  if (text.length > bytes || new TextEncoder().encode(text).length > bytes) {
    const message = `the scenario is larger than ${bytes / 2 ** 20} MiB`;
    return textProblem(source, 0, "too_large", message, shortenHint);
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finds characters that no text contains
  const binary = text.search(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/);
  if (binary !== -1) {
    const message = "the file is not text in UTF-8";
    return textProblem(source, binary, "not_text", message, "save it as plain text in UTF-8");
  }

  try {
    const [document, second] = parseYaml(text);
    if (second !== undefined) {
      const message = "a second document starts here";
      const hint = "put one scenario into a file";
      return textProblem(source, second.range[0], "several_documents", message, hint);
    }
    const error = firstErrorIn(document);
    return error === undefined ? document : syntaxProblem(error, source);
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    return textProblem(source, error.offset, error.code, error.message, error.hint);
  }
}

/** The text with the places of its secrets, which are not shown. They are searched only once a problem is shown. */
function withSecrets(source: SourceText, document: Document.Parsed): SourceText {
  let ranges: ReturnType<typeof secretsIn> | undefined;
  const secrets = () => {
    ranges ??= secretsIn(document);
    return ranges;
  };
  return { ...source, secrets };
}

/** YAML without aliases, and with quotes around what YAML 1.1 would read as dates or booleans. */
export function yamlText(value: unknown): string {
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0, compat: "yaml-1.1" });
}
