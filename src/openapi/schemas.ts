import { type OutputUnit, type Schema, validate } from "@cfworker/json-schema";
import { memberIn } from "../rules/schema/json.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping, type Path, pathText } from "../rules/schema/shape.js";
import { quote } from "../rules/schema/words.js";
import { Discriminators, hasMemberWith, isNull, named } from "./discriminators.js";
import { type ApiDocument, resolved, stepsOf, valueAt } from "./document.js";

// OpenAPI's schemas in the keywords of JSON Schema 2020-12, converted when needed, for a validator that generates no code.

/** What a schema is for: requests follow discriminators, and samples have the value that names their branch. */
type Use = "request" | "response" | "sample";

/** The first mismatch of a value: `items[2].price`, `must be at least 0`. */
export interface Mismatch {
  readonly path: Path;
  readonly message: string;
  readonly isMissing?: boolean;
}

/** Returns the first mismatch of a value; `undefined` for none, and if the validator gives up. */
export type Check = (value: unknown) => Mismatch | undefined;

/** The references that one check follows: a recursive type with alternatives would take exponential time. */
const maxFollowed = 5000;
/** The items of a list that are compared with each other. */
const maxDistinct = 1000;

export class Schemas {
  readonly document: ApiDocument;
  readonly #use: Use;
  readonly #discriminators: Discriminators;
  readonly #converted = new Map<object, unknown>();
  readonly #numbers = new Map<string, number>();
  /** The targets of references by their number: a converted `$ref` is `#/7`. */
  readonly targets: Record<string, unknown> = {};
  #followed = 0;
  readonly #lookup = new Proxy<Record<string, Schema>>(
    {},
    {
      get: (_, reference) => {
        if (++this.#followed > maxFollowed) throw new RangeError("too many references");
        return this.targets[String(reference).slice(2)];
      },
    },
  );
  /** Whether the last check gave up. */
  gaveUp = false;

  constructor(document: ApiDocument, use: Use) {
    this.document = document;
    this.#use = use;
    this.#discriminators = new Discriminators(document);
  }

  /** The check of a schema at its place in the document. */
  checkOf(node: unknown, path: Path): Check {
    return (value) => this.checkConverted(this.converted(node, path), value);
  }

  checkConverted(schema: unknown, value: unknown): Mismatch | undefined {
    this.#followed = 0;
    this.gaveUp = false;
    try {
      const error = meantError(validate(value, schema as object, "2020-12", this.#lookup).errors);
      return error && this.#mismatch(schema, error);
    } catch {
      // A type that contains itself without a member in between, or too many alternatives.
      this.gaveUp = true;
      return undefined;
    }
  }

  /** A schema in the keywords of JSON Schema 2020-12. */
  converted(node: unknown, path: Path): unknown {
    if (!isMapping(node)) return node !== false;
    const earlier = this.#converted.get(node);
    if (earlier !== undefined) return earlier;
    const schema = {};
    this.#converted.set(node, schema);
    return Object.assign(schema, this.#convert(node, path));
  }

  /** Converts everything that the schemas so far refer to, for the notes. */
  convertAll(): void {
    for (let number = 0; number < this.#numbers.size; number++) void this.targets[number];
  }

  /** A converted schema after its references. */
  target(schema: unknown): Members {
    let target = schema;
    for (let step = 0; isMapping(target) && typeof target.$ref === "string" && step < 50; step++)
      target = this.targets[target.$ref.slice(2)];
    return isMapping(target) ? target : {};
  }

  /** A reference; with `isParent`, to a schema without its discriminator, which its heirs have in `allOf`. */
  #reference(to: string, isParent = false): Members {
    const key = `${isParent} ${to}`;
    const number = this.#numbers.get(key) ?? this.#numbers.size;
    if (!this.#numbers.has(key)) {
      this.#numbers.set(key, number);
      const { node, path } = resolved(this.document, { $ref: to }, []);
      const { discriminator: _, oneOf: __, anyOf: ___, ...plain } = node;
      const from = isParent ? plain : (valueAt(this.document.root, to) ?? {});
      const get = () => this.converted(from, isParent ? path : stepsOf(to));
      Object.defineProperty(this.targets, number, { get });
    }
    return { $ref: `#/${number}` };
  }

  #convert(node: Members, path: Path): Members {
    const schema: Record<string, unknown> = {};
    if (typeof node.$ref === "string") Object.assign(schema, this.#reference(node.$ref));
    // OpenAPI 3.0 ignores everything next to a reference.
    if (this.document.isOld && schema.$ref !== undefined) return schema;
    for (const [name, value] of Object.entries(node)) {
      const kind = keywords.get(name);
      if (kind?.is(value)) schema[name] = this.#valueOf(name, value, kind.has, [...path, name]);
      else if (kind !== undefined) this.#note(path, name);
    }
    this.#adjust(schema, node);
    const chosen = this.#chosen(this.#discriminators.ownValues(node, schema, this.#use === "request"), node);
    return node.nullable === true && schema.$ref === undefined ? orNull(chosen) : chosen;
  }

  #valueOf(name: string, value: unknown, has: Kind["has"], path: Path): unknown {
    if (has === "schema") return this.converted(value, path);
    if (has === "list")
      return listIn(value).map((part, at) => this.#part(part, [...path, at], name === "allOf"));
    if (has === "names")
      return mapped(value as Members, (member, key) => this.converted(member, [...path, key]));
    // The library looks formats up by name, and its test of this one takes exponential time.
    if (name === "format" && value === "url") return "uri";
    if (name === "format" && Object.hasOwn(Object.prototype, String(value))) return undefined;
    if (name !== "pattern") return value;
    const pattern = checkedPattern(String(value));
    if (pattern === undefined) this.#note(path, `pattern ${quote(value).slice(0, 60)}`);
    return pattern;
  }

  #part(node: unknown, path: Path, isOfAll: boolean): unknown {
    const { node: target } = resolved(this.document, node, []);
    return isOfAll &&
      isMapping(node) &&
      typeof node.$ref === "string" &&
      this.#discriminators.of(target)?.isInherited
      ? this.#reference(node.$ref, true)
      : this.converted(node, path);
  }

  #note(path: Path, what: string): void {
    const verbs = ["has", "schemas have"] as const;
    this.document.notes.add("unchecked", pathText(path), verbs, "a keyword that is not checked", what);
  }

  /** Changes what depends on the direction, and flags of OpenAPI 3.0 that are limits in 3.1. */
  #adjust(schema: Record<string, unknown>, node: Members): void {
    const [isRequest, isSample] = [this.#use === "request", this.#use === "sample"];
    const flag = isRequest ? "readOnly" : "writeOnly";
    const isFree = (name: unknown) => hasMemberWith(this.document, node, String(name), flag);
    if (Array.isArray(schema.required)) schema.required = schema.required.filter((name) => !isFree(name));
    if (isMapping(schema.properties) && !isRequest)
      schema.properties = Object.fromEntries(
        Object.entries(schema.properties).filter(([name]) => !isFree(name)),
      );
    for (const [exclusive, limit] of exclusives) {
      if (typeof schema[exclusive] !== "boolean") continue;
      if (schema[exclusive] && schema[limit] !== undefined) {
        schema[exclusive] = schema[limit];
        delete schema[limit];
      } else delete schema[exclusive];
    }
    const { uniqueItems, allOf = [] } = schema;
    if (uniqueItems === true && !isSample) {
      // Each item is compared with each other.
      schema.uniqueItems = false;
      schema.allOf = [...listIn(allOf), when({ maxItems: maxDistinct }, { uniqueItems })];
    }
    if (isSample) this.#prepareSample(schema, node);
  }

  /** Adds what the sampler lacks: texts of formats and patterns, and different items. */
  #prepareSample(schema: Record<string, unknown>, node: Members): void {
    const { uniqueItems, minItems, items, format } = schema;
    // The sampler takes the first alternative.
    for (const name of ["oneOf", "anyOf"])
      if (Array.isArray(schema[name]))
        schema[name] = [...schema[name].filter((part) => !isNull(part)), ...schema[name].filter(isNull)];
    if (Object.hasOwn(node, "example")) schema.example = node.example;
    const form = typeof node.pattern === "string" ? matchingText(node, schema.pattern) : forms.get(format);
    if (form !== undefined && schema.enum === undefined) schema.examples ??= [form];
    if (uniqueItems === true && Number(minItems) > 1)
      schema.prefixItems ??= this.#distinct(items, Number(minItems));
  }

  /** Schemas of different items. */
  #distinct(items: unknown, count: number): readonly Members[] {
    const item = this.target(items);
    const { type, enum: choices, minimum = 0, properties = {}, format, pattern } = item;
    const members = Object.entries(properties as Members);
    const [name, inside] =
      members.find(([, one]) => /^(?:string|integer)$/.test(String(this.target(one).type))) ?? [];
    const ofMember = name === undefined ? [] : this.#distinct(inside, count);
    return Array.from({ length: Math.min(count, maxDistinct) }, (_, at): Members => {
      if (Array.isArray(choices)) return { const: choices[at] };
      if (type === "boolean") return { const: at === 0 };
      if (type === "integer" || type === "number") return { const: Number(minimum) + at };
      if (type === "string" && (format ?? pattern) === undefined)
        return { const: `string${at}`.padStart(Number(item.minLength ?? 0), "s") };
      return name === undefined
        ? item
        : { ...item, properties: { ...(properties as Members), [name]: ofMember[at] } };
    });
  }

  /** Replaces the alternatives of a schema by those that its discriminator names. */
  #chosen(schema: Members, node: Members): Members {
    const choice = this.#discriminators.of(node);
    // Responses are valid for any validator.
    if (choice === undefined || this.#use === "response") return schema;
    const { name, branches, isInherited, allowsNull } = choice;
    const entries = Array.from(branches, ([value, to]): readonly [Members, unknown] => [
      named(name, [value]),
      typeof to === "string"
        ? this.#reference(to, valueAt(this.document.root, to) === node)
        : this.converted(to, []),
    ]);
    const { oneOf: _, anyOf: __, allOf = [], ...own } = schema;
    const nothing = allowsNull ? [{ type: "null" }] : [];
    if (this.#use === "sample") {
      const oneOf = [...entries.map(([value, branch]) => ({ allOf: [branch, value] })), ...nothing];
      // An heir has the members of its parent.
      return isInherited ? { oneOf } : { ...own, allOf, oneOf };
    }
    const isFree = hasMemberWith(this.document, node, name, "readOnly");
    const anyValue = named(name, [...branches.keys()], !isFree);
    const cases = entries.map(([value, branch]) => when(value, branch));
    const type = ["object", ...(allowsNull ? ["null"] : [])];
    return { type, ...own, allOf: [...listIn(allOf), when({ type: "object" }, anyValue), ...cases] };
  }

  #mismatch(schema: unknown, { keyword, keywordLocation, instanceLocation, error }: OutputUnit): Mismatch {
    const isIndex = (step: string) => /^(?:0|[1-9]\d{0,8})$/.test(step);
    const path = stepsOf(instanceLocation).map((step) => (isIndex(step) ? Number(step) : step));
    const [, missing = ""] = /required property "(.*)"\.$/s.exec(error) ?? [];
    if (keyword === "required") return { path: [...path, missing], message: "is missing", isMissing: true };
    const value = stepsOf(keywordLocation).reduce<unknown>(
      (at, step) =>
        step === "$ref" ? this.target(at) : Array.isArray(at) ? at[Number(step)] : memberIn(at, [step]),
      schema,
    );
    return { path, message: messageOf(keyword, value) };
  }
}

/** The deepest mismatch: of several alternatives, this is most likely the meant one. */
function meantError(errors: readonly OutputUnit[]): OutputUnit | undefined {
  const several = errors.find(({ keyword, error }) => keyword === "oneOf" && !/\(0 matches/.test(error));
  const leaves = errors.filter(({ keyword, keywordLocation }) =>
    keyword === "oneOf"
      ? keywordLocation === several?.keywordLocation
      : !around.has(keyword) && !keywordLocation.startsWith(`${several?.keywordLocation}/`),
  );
  const depthOf = ({ instanceLocation }: OutputUnit) => instanceLocation.split("/").length;
  const [deepest = errors[0]] = leaves.sort((first, second) => depthOf(second) - depthOf(first));
  return deepest;
}

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const when = (condition: unknown, consequence: unknown): Members =>
  Object.fromEntries([
    ["if", condition],
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
    ["then", consequence],
  ]);
const mapped = (members: Members, change: (value: unknown, name: string) => unknown): Members =>
  Object.fromEntries(Object.entries(members).map(([name, one]) => [name, change(one, name)]));

/** The errors that have others inside. */
const around = new Set(
  "$ref properties items prefixItems additionalProperties patternProperties unevaluatedProperties unevaluatedItems allOf anyOf if dependentSchemas propertyNames".split(
    " ",
  ),
);

const words = new Map([
  ["minimum", "must be at least {}"],
  ["maximum", "must be at most {}"],
  ["exclusiveMinimum", "must be more than {}"],
  ["exclusiveMaximum", "must be less than {}"],
  ["multipleOf", "must be a multiple of {}"],
  ["minLength", "must have at least {} characters"],
  ["maxLength", "must have at most {} characters"],
  ["minItems", "must have at least {} items"],
  ["maxItems", "must have at most {} items"],
  ["minProperties", "must have at least {} members"],
  ["maxProperties", "must have at most {} members"],
  ["pattern", "must match the pattern {}"],
  ["format", "must have the format {}"],
  ["type", "must be {}"],
  ["const", "must be {}"],
  ["enum", "must be one of {}"],
  ["false", "is not allowed"],
  ["uniqueItems", "must not have equal items"],
  ["oneOf", "must match only one of the alternatives"],
]);

function messageOf(keyword: string, value: unknown): string {
  const isText = keyword !== "type" && [value].flat().every((one) => typeof one !== "number");
  const texts = [value]
    .flat()
    .slice(0, 10)
    .map((one) => (isText ? quote(one) : String(one)).slice(0, 200));
  const limit = texts.join(keyword === "type" ? " or " : ", ");
  return words.get(keyword)?.replace("{}", () => limit) ?? `must be valid for ${keyword}`;
}

// The keywords that are read, and what their values must be. Anything else is ignored, with a note.

interface Kind {
  readonly is: (value: unknown) => boolean;
  /** The schemas in a value. */
  readonly has?: "schema" | "list" | "names" | undefined;
}

const isType = (value: unknown) =>
  /^(?:array|boolean|integer|null|number|object|string)$/.test(String(value));
const isFlag = (value: unknown) => typeof value === "boolean";
const isSchema = (value: unknown) => isMapping(value) || isFlag(value);
const isNumber = (value: unknown) => typeof value === "number";
const isText = (value: unknown) => typeof value === "string";
const isListOf = (is: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(is);
const isOfAll = (is: (value: unknown) => boolean) => (value: unknown) =>
  isMapping(value) && Object.values(value).every(is);

const kinds: readonly (readonly [names: string, is: Kind["is"], has?: Kind["has"]])[] = [
  ["const default", () => true],
  ["enum examples", Array.isArray],
  ["format pattern", isText],
  ["readOnly writeOnly uniqueItems", isFlag],
  ["minimum maximum", isNumber],
  ["exclusiveMinimum exclusiveMaximum", (value) => isNumber(value) || isFlag(value)],
  ["multipleOf", (value) => Number(value) > 0 && isNumber(value)],
  [
    "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains",
    (value) => Number.isInteger(value) && Number(value) >= 0,
  ],
  ["required", isListOf(isText)],
  ["dependentRequired", isOfAll(isListOf(isText))],
  ["type", (value) => (isText(value) && isType(value)) || isListOf(isType)(value)],
  ["items additionalProperties not contains if then else", isSchema, "schema"],
  ["propertyNames unevaluatedProperties unevaluatedItems", isSchema, "schema"],
  ["allOf anyOf oneOf prefixItems", isListOf(isSchema), "list"],
  ["properties patternProperties dependentSchemas", isOfAll(isSchema), "names"],
];
const keywords: ReadonlyMap<string, Kind> = new Map(
  kinds.flatMap(([names, is, has]) => names.split(" ").map((name) => [name, { is, has }] as const)),
);

const exclusives = [
  ["exclusiveMinimum", "minimum"],
  ["exclusiveMaximum", "maximum"],
] as const;
/** Texts that many patterns allow. */
const commonTexts = [
  "2026-03-02",
  "2026-03-02T09:00:00Z",
  "3f0e8a52-9a0c-4f55-8d0b-0d9b0f6f0a11",
  "https://example.com/a",
  "https://example.com/a.png",
  "user@example.com",
  "1.0",
];
/** Samples of formats that the sampler does not know. */
const forms: ReadonlyMap<unknown, string> = new Map([
  ["byte", "c3RyaW5n"],
  ["duration", "P1D"],
]);

/** A repeated group with a repetition or alternatives in it: some texts would take exponential time. */
const nested = /\((?:[^()\\]|\\.)*[+*{|](?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)[+*{]/s;

/** A pattern as the validator compiles it, with Unicode; `undefined` for one that is not checked. */
function checkedPattern(pattern: string): string | undefined {
  const withoutClasses = pattern.replace(/\[(?:[^\]\\]|\\.)*\]/gs, "x");
  if (nested.test(withoutClasses) || pattern.length > 1000) return undefined;
  const escaped = (sign: string) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, "0")}`;
  // With Unicode, only signs of the syntax may be escaped.
  const unicode = pattern.replace(/\\([!"#%&',:;<=>@`~_ -])/g, (_, sign: string) => escaped(sign));
  try {
    RegExp(unicode, "u");
    return unicode;
  } catch {
    return undefined;
  }
}

/** A simple text that a pattern and the lengths allow, a short one if the pattern is not checked; `undefined` for none. */
function matchingText(
  { pattern, minLength = 0, maxLength = 100 }: Members,
  checked: unknown,
): string | undefined {
  const [min, max] = [Number(minLength), Number(maxLength)];
  const repeated = (one: string) =>
    one.repeat(Math.max(1, Math.ceil(min / one.length))).slice(0, Math.max(min, Math.min(max, one.length)));
  const texts = min > 1000 ? [] : ["string", "a", "A", "1", "a1", "A1"].map(repeated);
  const isFine = (one: string) =>
    one.length >= min &&
    one.length <= max &&
    (checked !== undefined || one.length <= 20) &&
    RegExp(String(checked ?? pattern), checked === undefined ? "" : "u").test(one);
  try {
    return [...texts, ...commonTexts].find(isFine);
  } catch {
    return undefined;
  }
}

/** A schema that also allows `null`, no matter what else it has. */
function orNull(schema: Members): Members {
  const { type, enum: choices } = schema;
  const isCombined = ["allOf", "anyOf", "oneOf", "not", "const"].some((name) => Object.hasOwn(schema, name));
  if (typeof type !== "string" || isCombined) return { anyOf: [schema, { type: "null" }] };
  return { ...schema, type: [type, "null"], ...(Array.isArray(choices) && { enum: [...choices, null] }) };
}
