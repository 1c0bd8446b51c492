import type { Members } from "../spec/schema/messages.js";
import { isMapping, type Path, pathText } from "../spec/schema/shape.js";
import { listed, quote } from "../spec/schema/words.js";
import { type ApiDocument, stepsOf } from "./document.js";
import { linearPattern, typeNames } from "./keywords.js";
import type { SchemaSource } from "./validator.js";

// What is wrong in the schemas that a document's operations reach, and how large their values must be.

const isText = (value: unknown) => typeof value === "string";
const isNumber = (value: unknown) => typeof value === "number";
const isFlag = (value: unknown) => typeof value === "boolean";
const isNames = (value: unknown) => Array.isArray(value) && value.every(isText);
const isSchema = (value: unknown) => isMapping(value) || typeof value === "boolean";
const isType = (value: unknown) => typeNames.includes(value as string);

interface Kind {
  readonly is: (value: unknown) => boolean;
  readonly words: string;
  /** The schemas in a value of this kind, with the steps to them. */
  readonly inside?: (value: never) => readonly (readonly [Path, unknown])[];
}

const inside = (value: object) => Object.entries(value).map(([name, one]) => [[name], one] as const);
const keywordKinds: readonly (readonly [names: string, kind: Kind])[] = [
  ["const", { is: () => true, words: "" }],
  ["enum examples", { is: Array.isArray, words: "a list" }],
  ["$ref format pattern", { is: isText, words: "a text" }],
  ["minimum maximum", { is: isNumber, words: "a number" }],
  // Flags as in OpenAPI 3.0 are often left in a document of 3.1.
  [
    "exclusiveMinimum exclusiveMaximum",
    { is: (value) => isNumber(value) || isFlag(value), words: "a number" },
  ],
  ["multipleOf", { is: (value) => isNumber(value) && Number(value) > 0, words: "a number above 0" }],
  [
    "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains",
    { is: (value) => Number.isInteger(value) && Number(value) >= 0, words: "a whole number from 0" },
  ],
  ["uniqueItems", { is: isFlag, words: "true or false" }],
  ["required", { is: isNames, words: "a list of names" }],
  [
    "dependentRequired",
    { is: (value) => isMapping(value) && Object.values(value).every(isNames), words: "lists of names" },
  ],
  [
    "type",
    {
      is: (value) => isType(value) || (Array.isArray(value) && value.every(isType)),
      words: `one of ${listed(typeNames.map(quote), "or")}`,
    },
  ],
  [
    "items additionalProperties not contains if then else propertyNames unevaluatedProperties unevaluatedItems",
    { is: isSchema, words: "a schema", inside: (value) => [[[], value]] },
  ],
  [
    "allOf anyOf oneOf prefixItems",
    {
      is: (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema),
      ...{ words: "a list of schemas", inside },
    },
  ],
  [
    "properties patternProperties dependentSchemas",
    {
      is: (value) => isMapping(value) && Object.values(value).every(isSchema),
      ...{ words: "schemas by name", inside },
    },
  ],
];

/** The keywords that are read. */
export const readKeywords: ReadonlyMap<string, Kind> = new Map(
  keywordKinds.flatMap(([names, kind]) => names.split(" ").map((name) => [name, kind] as const)),
);

/** What the smallest value of a schema may need: its parts and characters. A sample is never larger. */
export const mostRequired = 20_000;
const mostNested = 200;

/** What the values of a schema need: the parts and characters of the smallest, and the levels of the deepest without repetition. */
interface Needs {
  readonly parts: number;
  readonly levels: number;
}
const nothing: Needs = { parts: 1, levels: 1 };

export function surveyOf({ isOld, report, isFine, notes }: ApiDocument, { view, target }: SchemaSource) {
  const surveyed = new Set<unknown>();
  /** The schemas in a keyword's value, with their paths; reports a value of the wrong kind. */
  const within = (path: Path, name: string, value: unknown): readonly (readonly [Path, unknown])[] => {
    const kind = readKeywords.get(name);
    if (kind === undefined) return [];
    if (!kind.is(value)) {
      const message = `not valid OpenAPI: ${name} must be ${kind.words}`;
      report("openapi_invalid", [...path, name], message, "correct it, or ask who publishes the document");
      return [];
    }
    if (name === "$ref") return [[stepsOf(value as string), target(value as string)]];
    return (kind.inside?.(value as never) ?? []).map(([steps, one]) => [[...path, name, ...steps], one]);
  };
  /** Reports what is wrong in a schema and in everything that it reaches. */
  const survey = (node: unknown, at: Path): void => {
    const left: (readonly [Path, unknown])[] = [[at, node]];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const [path, one] = next;
      if (!isMapping(one) || surveyed.has(one)) continue;
      surveyed.add(one);
      for (const note of oddities(one, isOld))
        notes.add("unchecked", pathText(path), note, `have this: ${note}`, "schemas");
      for (const [name, value] of Object.entries(isOld ? view(one) : one))
        left.push(...within(path, name, value));
    }
    if (isFine()) needsOf(node, at, 0);
  };

  const needs = new Map<unknown, Needs>();
  const needsOf = (node: unknown, path: Path, nested: number): Needs => {
    const known = needs.get(node);
    if (known !== undefined) return known;
    if (!isMapping(node) || nested > mostNested) return nothing;
    // Of a type that contains itself.
    needs.set(node, nothing);
    const schema = view(node);
    const found = new Map(
      Object.entries(schema).map(([name, value]) => [
        name,
        name === "not" ? [] : within(path, name, value).map(([at, one]) => needsOf(one, at, nested + 1)),
      ]),
    );
    const own = sizeOf(schema, found);
    needs.set(node, own);
    const isReported = [...found.values()].flat().some(({ parts }) => parts > mostRequired);
    if (own.parts > mostRequired && !isReported) {
      const [where = []] = ["minLength", "minItems", "minProperties", "minContains"].filter(
        (name) => name in schema,
      );
      const message = `it requires a value of more than ${mostRequired} parts and characters`;
      report("too_large", [...path, where].flat(), message, "write a smaller number, or require less");
    }
    return own;
  };
  return { survey, levelsOf: (node: unknown) => needsOf(node, [], 0).levels };
}

const limits = ["imum", "Length", "Items", "Properties", "Contains"];

/** What is odd in a schema that can be read. */
function* oddities(schema: Members, isOld: boolean): Generator<string> {
  for (const limit of limits) {
    const [least, most] = [schema[`min${limit}`], schema[`max${limit}`]];
    if (Number(least) > Number(most)) yield `min${limit} is above max${limit}, so that no value is valid`;
  }
  const { pattern, exclusiveMinimum, exclusiveMaximum, nullable } = schema;
  if (typeof pattern === "string" && linearPattern(pattern) === undefined)
    yield `the pattern is not checked: ${isPattern(pattern) ? "it looks ahead or back, or is too long" : "it is not a regular expression"}`;
  if (schema.$dynamicRef !== undefined) yield "$dynamicRef is not followed";
  if (!isOld && (isFlag(exclusiveMinimum) || isFlag(exclusiveMaximum) || nullable === true))
    yield "a keyword of OpenAPI 3.0 is read as there";
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

const sameLevel = new Set(["$ref", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"]);

function sizeOf(schema: Members, found: ReadonlyMap<string, readonly Needs[]>): Needs {
  const { required = [], properties = {} } = schema;
  const numberAt = (name: string, usual = 0) => Number(schema[name] ?? usual);
  const partsOf = (name: string) => (found.get(name) ?? []).map(({ parts }) => parts);
  const least = (name: string, usual = 0) => (found.get(name)?.length ? Math.min(...partsOf(name)) : usual);
  const names = Object.keys(properties as Members);
  const isRequired = (_: unknown, at: number) =>
    (required as readonly string[]).includes(names[at] as string);
  const all = [...partsOf("properties").filter(isRequired), ...partsOf("$ref"), ...partsOf("allOf")];
  const contained = found.has("contains") ? numberAt("minContains", 1) * least("contains", 1) : 0;
  const parts =
    1 +
    least("anyOf") +
    least("oneOf") +
    contained +
    numberAt("minLength") +
    numberAt("minItems") * least("items", 1) +
    numberAt("minProperties") * least("additionalProperties", 1) +
    all.reduce((sum, one) => sum + one, 0);
  const levels = [...found].map(([name, inner]) => {
    const deepest = inner.reduce((most, one) => Math.max(most, one.levels), 0);
    return deepest + (sameLevel.has(name) ? 0 : 1);
  });
  return { parts, levels: Math.max(1, ...levels) };
}
