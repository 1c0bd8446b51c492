import { type Document, stringify } from "yaml";
import { maximumProblems } from "../../schema/problem.js";
import { yamlNotation } from "../format/notations.js";
import { scenarioLimits } from "../format/scenario-limits.js";
import { readPlain } from "../plain-data.js";
import type { FieldProblem } from "../problems.js";
import type { SourceText, TextRange } from "../source-text.js";
import type { PlacedScenario, WrittenScenario } from "../written-scenario.js";
import { readDocument } from "./document.js";
import { NodePlaces } from "./node-places.js";
import { checkNodes } from "./nodes.js";
import { createSource } from "./places.js";
import { secretsIn } from "./secret-nodes.js";
import { problemAtOffset, repeatLessHint } from "./text-problem.js";
import { isEmpty, NodeValues, type Tree } from "./tree.js";

// A scenario is read in four steps: its text becomes a document (document.ts), whose nodes are checked (nodes.ts) and
// have values (tree.ts) and places (node-places.ts); the values are copied as plain data (plain-data.ts).

/** What a text has: a scenario, unless the text cannot be read, and the problems of the text. */
type TextReading = Pick<WrittenScenario, "scenario" | "problems">;

/** Reads a scenario from YAML to values with their places. Never throws: what is wrong with the text is in `problems`. */
export function readYaml(text: string, file: string | undefined): WrittenScenario {
  const source = createSource(text, file);
  // `version: 1` at the start of a line, or `{ "version": 1`; not `version: 1.0.0`.
  const startsLikeScenario = /^(?:\{\s*)?["']?version["']?\s*:\s*["']?1(?![^\s"',}])/m.test(source.text);
  const { scenario, problems } = readText(source);
  const firstProblems = problems.slice(0, maximumProblems);
  return { file, text, notation: yamlNotation, startsLikeScenario, scenario, problems: firstProblems };
}

function readText(sourceWithoutSecrets: SourceText): TextReading {
  const readResult = readDocument(sourceWithoutSecrets);
  if (readResult.kind === "stopped") {
    return withoutScenario([problemAtOffset(sourceWithoutSecrets, readResult.offset, readResult.problem)]);
  }

  const { document } = readResult;
  const source = withSecrets(sourceWithoutSecrets, document);
  const { contents } = document;
  if (contents === null || isEmpty(contents)) {
    const problem = problemAtOffset(source, contents?.range?.[0] ?? 0, {
      code: "empty",
      message: "the scenario is empty",
      hint: 'start with "version: 1" and "organizations:"',
    });
    return withoutScenario([problem]);
  }

  const { targets, problems } = checkNodes(document, source);
  // A text with duplicate fields can still be read and checked; with any other problem of its nodes, it cannot.
  if (problems.some(({ code }) => code !== "duplicate_field")) return withoutScenario(problems);

  const tree: Tree = { source, root: contents, targets };
  const places = new NodePlaces(tree);
  const plain = readPlain(new NodeValues(tree).valueOf(contents), scenarioLimits.membersAndItems);
  if (plain.kind === "not_plain") {
    const hasAliases = targets.size > 0;
    const placedProblems = plain.problems.map((problem) => withPlace(problem, places, hasAliases));
    return withoutScenario([...problems, ...placedProblems]);
  }
  const locate: PlacedScenario["locate"] = (field, pointAt) => places.locate(field, pointAt);
  return { scenario: { fields: plain.fields, texts: [source], locate }, problems };
}

function withoutScenario(problems: readonly FieldProblem[]): TextReading {
  return { scenario: undefined, problems };
}

/** The text with the places of its secrets, which are not shown. They are searched only once a problem is shown. */
function withSecrets(source: SourceText, document: Document.Parsed): SourceText {
  let ranges: readonly TextRange[] | undefined;
  const secrets = () => {
    ranges ??= secretsIn(document);
    return ranges;
  };
  return { ...source, secrets };
}

/** A problem of the values at its place in the text. */
function withPlace(problem: FieldProblem, places: NodePlaces, hasAliases: boolean): FieldProblem {
  const { place } = places.locate(problem.field, problem.pointAt ?? "value");
  // Where a text has aliases, they are why it has too many parts: they repeat some.
  if (problem.code === "too_large" && hasAliases) {
    return { ...problem, place, message: "the aliases (*) repeat too much", hint: repeatLessHint };
  }
  return { ...problem, place };
}

/** YAML without aliases, and with quotes around what YAML 1.1 would read as dates or booleans. */
export function yamlText(value: unknown): string {
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0, compat: "yaml-1.1" });
}
