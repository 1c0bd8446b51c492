import { fullFormats } from "ajv-formats/dist/formats.js";
import { RE2JS } from "re2js";
// Its main module has no exports by name.
import { tokenizer } from "ret/dist/tokenizer.js";
import { redactEncoded } from "../rules/redact.js";
import { canonicalJson } from "../rules/schema/json.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping, type Path } from "../rules/schema/shape.js";
import { quote } from "../rules/schema/words.js";

// The test of each keyword of JSON Schema 2020-12.

/** The first mismatch of a value. */
export interface Mismatch {
  readonly path: Path;
  /** A clause without the value: `must be integer`. */
  readonly message: string;
  /** The name of a missing member. */
  readonly missing?: string;
}

export type Test = (value: unknown, run: Work) => Mismatch | undefined;

/** The validation of one value. */
export interface Work {
  /** Whether values are texts of a query, which are converted to the type of the schema. */
  readonly reads: boolean;
  /** Whether alternatives are tested next to the one that a discriminator names. */
  readonly isStrict: boolean;
  /** For each value, the results by schema: alternatives of a recursive type look at the same values again. */
  readonly known: Map<unknown, Map<unknown, Mismatch | undefined>>;
}

/** The schemas that a member chooses between, by its values. */
export interface Discriminator {
  readonly name: string;
  readonly branches: ReadonlyMap<string, unknown>;
}

/** What keywords need of the schemas around them. */
export interface SchemaContext {
  readonly schema: Members;
  readonly patternOf: PatternEngine;
  readonly test: (node: unknown) => Test;
  readonly reference: (to: string) => Test;
  /** The members or items of a value that the keywords next to `unevaluatedProperties` or `unevaluatedItems` describe. */
  readonly described: (value: object, run: Work) => ReadonlySet<string>;
}

/** Makes the test of a keyword's value. */
export type Keyword = (value: never, around: SchemaContext) => Test | [];

const mismatch = (message: string): Mismatch => ({ path: [], message });
const within = (key: string | number, one: Mismatch | undefined) =>
  one && { ...one, path: [key, ...one.path] };
export const isList = Array.isArray;
export const isText = (value: unknown) => typeof value === "string";
export const isNumber = (value: unknown) => typeof value === "number";
export const isFlag = (value: unknown) => typeof value === "boolean";

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  array: isList,
  boolean: isFlag,
  integer: Number.isInteger,
  null: (value) => value === null,
  number: Number.isFinite,
  object: isMapping,
  string: isText,
};
export const typeNames = Object.keys(types);

const same = (value: number) => value;
const countOf = (value: object) => Object.keys(value).length;
const atLeast = (value: number, min: number) => value >= min;
const atMost = (value: number, max: number) => value <= max;

export const keywords: Readonly<Record<string, Keyword>> = {
  type(wanted: string | readonly string[]) {
    const allowed = [wanted].flat();
    const wrong = mismatch(`must be ${allowed.join(" or ")}`);
    return (value) => (allowed.some((one) => types[one]?.(value)) ? undefined : wrong);
  },
  enum: (choices: readonly unknown[]) => choiceOf("must be one of", choices),
  const: (only: unknown) => choiceOf("must be", [only]),
  minimum: limit("must be at least", isNumber, same, atLeast),
  maximum: limit("must be at most", isNumber, same, atMost),
  exclusiveMinimum: limit("must be more than", isNumber, same, (value, min) => value > min),
  exclusiveMaximum: limit("must be less than", isNumber, same, (value, max) => value < max),
  multipleOf: limit("must be a multiple of", isNumber, same, isMultiple),
  minLength: limit("characters: must be at least", isText, sizeOf, atLeast),
  maxLength: limit("characters: must be at most", isText, sizeOf, atMost),
  minItems: limit("items: must be at least", isList, countOf, atLeast),
  maxItems: limit("items: must be at most", isList, countOf, atMost),
  minProperties: limit("members: must be at least", isMapping, countOf, atLeast),
  maxProperties: limit("members: must be at most", isMapping, countOf, atMost),
  pattern(pattern: string, { patternOf }) {
    const matches = patternOf(pattern);
    const wrong = mismatch(`must match pattern ${quote(pattern.slice(0, 200))}`);
    return (value) => (typeof value !== "string" || matches(value) ? undefined : wrong);
  },
  format(name: string) {
    const accepts = formatTests.get(name);
    if (accepts === undefined) return [];
    const wrong = mismatch(`must match format ${quote(name.slice(0, 60))}`);
    return (value) => (accepts(value) ? undefined : wrong);
  },
  required: (names: readonly string[]) => (value) => {
    if (!isMapping(value)) return undefined;
    const missing = names.find((name) => !Object.hasOwn(value, name));
    return missing === undefined ? undefined : { path: [], message: "is missing", missing };
  },
  dependentRequired: (needs: Readonly<Record<string, readonly string[]>>) => {
    const requirements = Object.entries(needs).map(([name, names]) => [
      name,
      keywords.required?.(names as never, none),
    ]);
    return dependent(requirements as [string, Test][]);
  },
  dependentSchemas: (needs: Members, { test }) =>
    dependent(Object.entries(needs).map(([name, node]) => [name, test(node)])),
  properties(members: Members, { test }) {
    const memberTests = Object.entries(members).map(([name, node]) => [name, test(node)] as const);
    return (value, run) =>
      isMapping(value)
        ? first(memberTests, ([name, one]) =>
            Object.hasOwn(value, name) ? within(name, one(value[name], run)) : undefined,
          )
        : undefined;
  },
  patternProperties(members: Members, { test, patternOf }) {
    const patternTests = Object.entries(members).map(
      ([pattern, node]) => [patternOf(pattern), test(node)] as const,
    );
    return eachMember((name, value, run) =>
      first(patternTests, ([matches, one]) => (matches(name) ? one(value, run) : undefined)),
    );
  },
  additionalProperties(node: unknown, { schema, test, patternOf }) {
    const otherTest = node === false ? undefined : test(node);
    const { properties = {}, patternProperties = {} } = schema as Readonly<Record<string, Members>>;
    const patterns = Object.keys(patternProperties).map(patternOf);
    return eachMember((name, value, run) => {
      const isNamed = Object.hasOwn(properties, name) || patterns.some((matches) => matches(name));
      return isNamed ? undefined : otherTest === undefined ? "not allowed" : otherTest(value, run);
    });
  },
  propertyNames(node: unknown, { test }) {
    const nameTest = test(node);
    return eachMember((name, _, run) => nameTest(name, run) && mismatch("has a name that is not valid"));
  },
  unevaluatedProperties: (node: unknown, around) => unevaluated(node, around, isMapping),
  unevaluatedItems: (node: unknown, around) => unevaluated(node, around, isList),
  items(node: unknown, { schema, test }) {
    const itemTest = test(node);
    const from = isList(schema.prefixItems) ? schema.prefixItems.length : 0;
    return (value, run) => {
      if (!isList(value)) return undefined;
      for (let at = from; at < value.length; at++) {
        const wrong = itemTest(value[at], run);
        if (wrong !== undefined) return within(at, wrong);
      }
      return undefined;
    };
  },
  prefixItems(nodes: readonly unknown[], { test }) {
    const itemTests = nodes.map((node, at) => [at, test(node)] as const);
    return (value, run) =>
      isList(value)
        ? first(itemTests.slice(0, value.length), ([at, one]) => within(at, one(value[at], run)))
        : undefined;
  },
  contains(node: unknown, { schema: { minContains = 1, maxContains }, test }) {
    const itemTest = test(node);
    const max = Number(maxContains ?? Number.POSITIVE_INFINITY);
    const wrong = mismatch(`must contain ${minContains} to ${maxContains ?? "any number of"} such items`);
    return (value, run) => {
      if (!isList(value)) return undefined;
      const count = value.filter((item) => itemTest(item, run) === undefined).length;
      return count >= Number(minContains) && count <= max ? undefined : wrong;
    };
  },
  uniqueItems: (isUnique: boolean) => (value) => {
    if (!isUnique || !isList(value)) return undefined;
    const keys = value.map((item) => {
      if (isText(item)) return `"${item}`;
      return isPlain(item) ? item : canonicalJson(item);
    });
    return new Set(keys).size === keys.length ? undefined : mismatch("must not have equal items");
  },
  $ref: (to: string, { reference }) => reference(to),
  allOf(nodes: readonly unknown[], { test }) {
    const partTests = nodes.map(test);
    return (value, run) => first(partTests, (one) => one(value, run));
  },
  anyOf: (nodes: readonly unknown[], around) =>
    unlessChosen(around, alternatives(nodes.map(around.test), Number.POSITIVE_INFINITY)),
  oneOf: (nodes: readonly unknown[], around) => unlessChosen(around, alternatives(nodes.map(around.test), 1)),
  discriminator({ name, branches }: Discriminator, { test }) {
    const tests = new Map([...branches].map(([value, node]) => [value, test(node)]));
    const wrong = within(name, wrongChoice("must be one of", [...branches.keys()]));
    return (value, run) => {
      if (!isMapping(value)) return undefined;
      if (!Object.hasOwn(value, name)) return { ...mismatch("is missing"), missing: name };
      const branchTest = tests.get(value[name] as string);
      return branchTest === undefined ? wrong : branchTest(value, run);
    };
  },
  not(node: unknown, { test }) {
    const excluded = test(node);
    return (value, run) => (excluded(value, run) === undefined ? mismatch("must not be valid") : undefined);
  },
  if(node: unknown, { schema, test }) {
    const [condition, met, unmet] = [node, schema.then ?? {}, schema.else ?? {}].map(test) as [
      Test,
      Test,
      Test,
    ];
    return (value, run) => (condition(value, run) === undefined ? met : unmet)(value, run);
  },
};

const none = {} as SchemaContext;

/** With a discriminator, alternatives of objects are only tested for samples, which other validators may check. */
function unlessChosen({ schema }: SchemaContext, test: Test): Test {
  if (schema.discriminator === undefined) return test;
  return (value, run) => (isMapping(value) && !run.isStrict ? undefined : test(value, run));
}

export function first<Item>(items: readonly Item[], test: (item: Item) => Mismatch | undefined) {
  for (const item of items) {
    const wrong = test(item);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function dependent(all: readonly (readonly [string, Test])[]): Test {
  return (value, run) =>
    isMapping(value)
      ? first(all, ([name, one]) => (Object.hasOwn(value, name) ? one(value, run) : undefined))
      : undefined;
}

type MemberTest = (name: string, value: unknown, run: Work) => Mismatch | "not allowed" | undefined;

function eachMember(test: MemberTest, isKind: (value: unknown) => boolean = isMapping): Test {
  return (value, run) => {
    if (!isKind(value)) return undefined;
    for (const [name, member] of Object.entries(value as object)) {
      const wrong = test(name, member, run);
      if (wrong === "not allowed")
        return mismatch(`must not have the member ${quote(redactEncoded(name).slice(0, 60))}`);
      if (wrong !== undefined) return within(isList(value) ? Number(name) : name, wrong);
    }
    return undefined;
  };
}

function unevaluated(
  node: unknown,
  { test, described }: SchemaContext,
  isKind: (value: unknown) => boolean,
): Test {
  const restTest = node === false ? undefined : test(node);
  return (value, run) => {
    if (!isKind(value)) return undefined;
    const evaluated = described(value as object, run);
    const rest: MemberTest = (name, member) =>
      evaluated.has(name) ? undefined : restTest === undefined ? "not allowed" : restTest(member, run);
    return eachMember(rest, isKind)(value, run);
  };
}

/** At least one of the tests passes, and at most `max`. Otherwise the deepest mismatch is most likely the meant one. */
function alternatives(all: readonly Test[], max: number): Test {
  return (value, run) => {
    let deepest: Mismatch | undefined;
    let passed = 0;
    for (const alternative of all) {
      const wrong = alternative(value, run);
      // A text such as 46 may be read as a number and as a text.
      if (wrong === undefined && (max > 1 || run.reads)) return undefined;
      if (wrong === undefined) passed += 1;
      else if (wrong.path.length > (deepest?.path.length ?? -1)) deepest = wrong;
    }
    if (passed > 1) return mismatch("must match only one of the alternatives");
    return passed === 1 ? undefined : (deepest ?? mismatch("must match an alternative"));
  };
}

function limit<Value>(
  words: string,
  isKind: (value: unknown) => boolean,
  measure: (value: Value) => number,
  isFine: (value: number, limit: number) => boolean,
): Keyword {
  return (limit: number) => {
    const wrong = mismatch(`${words} ${limit}`);
    return (value) => (!isKind(value) || isFine(measure(value as Value), limit) ? undefined : wrong);
  };
}

/** The number of characters; a surrogate pair is one. */
export function sizeOf(text: string): number {
  let size = 0;
  for (const _ of text) size += 1;
  return size;
}

function isMultiple(value: number, step: number): boolean {
  const factor = 10 ** Math.max(decimalsOf(value), decimalsOf(step));
  const [whole, part] = [Math.round(value * factor), Math.round(step * factor)];
  if (Number.isSafeInteger(whole) && Number.isSafeInteger(part)) return whole % part === 0;
  const times = value / step;
  return Number.isFinite(times) && Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times));
}

/** The number of decimals: 2 for 0.25, and 7 for 1e-7. */
function decimalsOf(value: number): number {
  const [, decimals = "", exponent = 0] = /^[^.e]*(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  return Math.max(0, decimals.length - Number(exponent));
}

const isPlain = (value: unknown) => typeof value !== "object" || value === null;

function wrongChoice(words: string, choices: readonly unknown[]): Mismatch {
  return mismatch(`${words} ${choices.slice(0, 10).map(quote).join(", ")}`);
}

function choiceOf(words: string, choices: readonly unknown[]): Test {
  const plain = new Set(choices.filter(isPlain));
  const others = new Set(choices.filter((one) => !isPlain(one)).map(canonicalJson));
  const wrong = wrongChoice(words, choices);
  const isChoice = (value: unknown) => (isPlain(value) ? plain.has(value) : others.has(canonicalJson(value)));
  return (value) => (isChoice(value) ? undefined : wrong);
}

// Of ajv-formats, it accepts every whole number.
const int64 = {
  type: "number",
  validate: (value: number) => Number.isInteger(value) && Math.abs(value) <= 2 ** 63,
};

/** The characters of a text whose format is checked: some formats take quadratic time. */
export const maxFormatted = 1000;

const { email: isPlainEmail } = fullFormats as Readonly<Record<string, RegExp>>;
/** A local part in quotes is as valid as any other. */
const quotedLocal = /^"(?:[ !#-[\]-~]|\\[ -~])+"(?=@)/;
const email = (text: string) => isPlainEmail?.test(text.replace(quotedLocal, "a")) === true;

/** The test of each format, which accepts values of other types. */
export const formatTests = new Map(
  Object.entries({ ...fullFormats, email, int64 }).flatMap(([name, format]) => {
    const { type = "string", validate = format } = isMapping(format) ? format : {};
    const test = validate instanceof RegExp ? (text: string) => validate.test(text) : validate;
    if (typeof test !== "function") return [];
    const isOther = (value: unknown) =>
      typeof value !== type || (typeof value === "string" && value.length > maxFormatted);
    return [[name, (value: unknown) => isOther(value) || (test as (value: unknown) => boolean)(value)]];
  }),
);

/** Whether a text matches a pattern of a schema. */
export type Pattern = (text: string) => boolean;

export type PatternEngine = (pattern: string) => Pattern;

// As ECMA-262 has them; RE2 knows only those of ASCII.
const space = "\\t-\\r \\xA0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000\\uFEFF";
const noSpace =
  "\\x00-\\x08\\x0E-\\x1F!-\\x9F\\xA1-\\u167F\\u1681-\\u1FFF\\u200B-\\u2027\\u202A-\\u202E\\u2030-\\u205E\\u2060-\\u2FFF\\u3001-\\uFEFE\\uFF00-\\u{10FFFF}";
const classes: Readonly<Record<string, string>> = { "\\s": space, "\\S": noSpace };

function withSpaces(pattern: string): string {
  let isInClass = false;
  return pattern.replace(/\\.|\[:\^?\w+:\]|[[\].]/gs, (token) => {
    if (token === "." && !isInClass) return "[^\\n\\r\\u2028\\u2029]";
    if (token === "[" || token === "]") isInClass = token === "[";
    const inside = classes[token];
    if (inside === undefined) return token;
    return isInClass ? inside : `[${inside}]`;
  });
}

const compiled = (pattern: string) => RE2JS.compile(RE2JS.translateRegExp(withSpaces(pattern)));
/** What a pattern looks ahead for at its start, with at most one level of groups. */
const lookAhead = /^\^\(\?([=!])((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*)\)/s;

/**
 * Compiles a pattern with an engine whose time grows only with the text; `undefined` for one that it does not support, such
 * as one that looks back.
 */
export function linearPattern(pattern: string): Pattern | undefined {
  try {
    const looks: (readonly [isFollowed: boolean, RE2JS])[] = [];
    let rest = pattern;
    // `^(?!A)(?=B)C` is three patterns, unless it has alternatives.
    for (let match = lookAhead.exec(rest); match !== null; match = lookAhead.exec(rest)) {
      const [whole, is, ahead = ""] = match;
      if (tokenizer(pattern).options !== undefined) return undefined;
      looks.push([is === "=", compiled(`^(?:${ahead})`)]);
      rest = `^${rest.slice(whole.length)}`;
    }
    const last = compiled(rest);
    return (text) => looks.every(([is, one]) => one.test(text) === is) && last.test(text);
  } catch {
    return undefined;
  }
}
