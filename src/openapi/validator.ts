import { isTooDeep, parsedJson } from "../rules/schema/json.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping } from "../rules/schema/shape.js";
import {
  type Discriminator,
  first,
  type Keyword,
  keywords,
  type Mismatch,
  type PatternEngine,
  type SchemaContext,
  type Test,
  type Work,
} from "./keywords.js";
import { keptIn } from "./once.js";

// Validates values against schemas of JSON Schema 2020-12. The results of a value are kept for each schema that references
// lead to, so that a recursive type with many alternatives takes time in proportion to the value.

/** The levels of a body that is validated. */
export const maxBodyLevels = 16;

/** The schemas of a document. */
export interface SchemaSource {
  /** The keywords of a schema in the form of JSON Schema 2020-12. */
  readonly view: (node: unknown) => Members;
  readonly target: (reference: string) => unknown;
}

export type Check = (value: unknown) => Mismatch | undefined;

interface Compiler extends SchemaSource {
  readonly patternOf: PatternEngine;
  readonly testOf: (node: unknown) => Test;
}

/** The validator of a document's schemas. Compiles a schema when a value first needs it. */
export function validatorOf(source: SchemaSource, patternOf: PatternEngine) {
  const tests = new Map<unknown, Test>();
  const testOf = (node: unknown): Test =>
    keptIn(tests, node, () => {
      let test: Test | undefined;
      return (value, run) => {
        test ??= compiled(node, compiler);
        return test(value, run);
      };
    });
  const compiler: Compiler = { ...source, patternOf, testOf };
  /** The check of a schema. With `reads`, values are texts that it converts first. */
  return (node: unknown, { reads = false, isStrict = false } = {}): Check =>
    (value) =>
      testOf(node)(value, { reads, isStrict, known: new Map() });
}

function compiled(node: unknown, compiler: Compiler): Test {
  const schema = compiler.view(node);
  const around: SchemaContext = {
    schema,
    patternOf: compiler.patternOf,
    test: compiler.testOf,
    reference: (to) => referenceTo(compiler.target(to), compiler),
    described(value, run) {
      const { unevaluatedProperties: _, unevaluatedItems: __, ...others } = schema;
      return describedBy(others, value, run, compiler);
    },
  };
  const tests = Object.entries(schema).flatMap(([name, value]) => {
    const make: Keyword | undefined = Object.hasOwn(keywords, name) ? keywords[name] : undefined;
    return make?.(value as never, around) ?? [];
  });
  const types = typesOf(schema);
  return (given, run) => {
    const value = run.reads ? converted(given, types) : given;
    return first(tests, (one) => one(value, run));
  };
}

function referenceTo(node: unknown, { testOf }: Compiler): Test {
  const test = testOf(node);
  return (value, run) => {
    const results = keptIn(run.known, value, () => new Map<unknown, Mismatch | undefined>());
    if (results.has(node)) return results.get(node);
    // A type that contains itself without a member in between requires nothing there.
    results.set(node, undefined);
    const mismatch = test(value, run);
    results.set(node, mismatch);
    return mismatch;
  };
}

/** The names of the members or items that a schema describes. */
function describedBy(
  schema: Members,
  value: object,
  run: Work,
  compiler: Compiler,
  around: readonly unknown[] = [],
): ReadonlySet<string> {
  const { view, target, testOf } = compiler;
  const isMet = (node: unknown) => testOf(node)(value, run) === undefined;
  const applied = appliedTo(schema, value, target, isMet);
  const inner = applied.filter((node) => !around.includes(node) && isMet(node));
  const described = inner.map((node) => describedBy(view(node), value, run, compiler, [...around, node]));
  const names = Object.keys(value);
  const isOwn = Array.isArray(value) ? ownItems(schema, value, run, compiler) : ownMembers(schema, compiler);
  return new Set(names.filter((name) => isOwn(name) || described.some((one) => one.has(name))));
}

function ownMembers(schema: Members, { patternOf }: Compiler) {
  const { properties = {}, patternProperties = {}, additionalProperties, unevaluatedProperties } = schema;
  const patterns = Object.keys(patternProperties as Members).map(patternOf);
  const isOpen = (additionalProperties ?? unevaluatedProperties) !== undefined;
  return (name: string) =>
    isOpen || Object.hasOwn(properties as Members, name) || patterns.some((matches) => matches(name));
}

function ownItems(schema: Members, value: readonly unknown[], run: Work, { testOf }: Compiler) {
  const { prefixItems = [], items, unevaluatedItems, contains } = schema;
  const isContained = (item: unknown) => contains !== undefined && testOf(contains)(item, run) === undefined;
  const first = (items ?? unevaluatedItems) === undefined ? (prefixItems as []).length : value.length;
  return (at: string) => Number(at) < first || isContained(value[Number(at)]);
}

/** The schemas next to each other that describe the same value. */
function appliedTo(
  { $ref, allOf, anyOf, oneOf, discriminator, if: condition, dependentSchemas = {}, ...schema }: Members,
  value: object,
  target: SchemaSource["target"],
  isMet: (node: unknown) => boolean,
): unknown[] {
  const needed = Object.entries(dependentSchemas as Members);
  const { name = "", branches } = (discriminator ?? {}) as Partial<Discriminator>;
  const chosen = branches?.get((value as Members)[name] as string);
  return [
    ...(chosen === undefined ? [] : [chosen]),
    ...(typeof $ref === "string" ? [target($ref)] : []),
    ...[allOf, anyOf, oneOf].flatMap((all) => (Array.isArray(all) ? all : [])),
    ...(condition === undefined ? [] : [condition, (isMet(condition) ? schema.then : schema.else) ?? {}]),
    ...needed.flatMap(([name, node]) => (Object.hasOwn(value, name) ? [node] : [])),
  ];
}

/** The types of a schema; of one without, the types of its choices. */
function typesOf({ type, enum: choices = [], ...schema }: Members): readonly string[] {
  if (type !== undefined) return [type].flat() as string[];
  const values = Object.hasOwn(schema, "const") ? [schema.const] : (choices as readonly unknown[]);
  return [...new Set(values.map((one) => (one === null ? "null" : typeof one)))];
}

/** The value of a text for a schema of these types. */
function converted(value: unknown, types: readonly string[]): unknown {
  if (types.length === 0 || types.includes("string")) return value;
  if (types.includes("array") && !types.includes("object") && isMapping(value)) return Object.values(value);
  if (types.includes("array") && !Array.isArray(value)) return [value];
  if (types.includes("object") && typeof value === "string" && value.startsWith("{")) {
    const json = parsedJson(value);
    return json === undefined || isTooDeep(json, maxBodyLevels) ? value : json;
  }
  if (typeof value !== "string") return value;
  const isNumber = types.includes("number") || types.includes("integer");
  if (isNumber && /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(value)) return Number(value);
  if (types.includes("boolean") && /^(?:true|false)$/.test(value)) return value === "true";
  return types.includes("null") && value === "" ? null : value;
}
