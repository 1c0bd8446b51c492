// Its main module has no exports by name.
import { tokenizer } from "ret/dist/tokenizer.js";
import { type Token, type Tokens, types } from "ret/dist/types/index.js";
import { canonicalJson } from "../rules/schema/json.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping } from "../rules/schema/shape.js";
import { base62From, pick, type RandomStream, randomStream, uuidFrom } from "../rules/seed.js";
import { type Discriminator, formatTests, type Mismatch, sizeOf } from "./keywords.js";
import { merged, type SchemaReader } from "./schemas.js";

// Seeded values of schemas. Each part draws from its own stream, so that another part of the document changes no other.

/** What samples depend on. */
export interface Sampling {
  readonly seed: number;
  /** The instant of the newest times in samples (epoch milliseconds). */
  readonly now: number;
}

/** The samples of an operation that are kept: a process may have many sandboxes, each with its own seed. */
export const maxSamples = 200;

/** For samples that no sandbox sends. */
export const ofExamples: Sampling = { seed: 1, now: Date.UTC(2026, 2, 2, 9) };

/** A sample gets no optional members below this level. */
const deepOptional = 5;
const maxNested = 60;
/** The draws for an item that differs from those before it. */
const maxTurns = 20;
/** The parts and characters of a sample: a type that requires itself twice has no end. */
export const largestSample = 20_000;
/** A sample of this many parts and characters gets no more optional members and items. */
export const largeSample = 150;
/** The checks of parts with `oneOf` in one sample. */
const maxPartChecks = 60;

/** The optional members without a valid value that are left out alone. */
const maxLeftOut = 20;

/** Thrown when a schema has no sample within these limits. */
const noSample = Symbol("no sample");

interface Attempt extends Sampling {
  readonly reader: SchemaReader;
  readonly usesExamples: boolean;
  /** Which optional members it has: with `choices`, only those that may tell alternatives apart. */
  readonly fill: "all" | "choices" | "required";
  /** Which alternative is tried. */
  readonly turn: number;
  /** The parts and characters that are made, and the parts that are checked. */
  readonly work: { parts: number; checks: number };
  /** The places of optional members that it has, and of those without a valid value, which it leaves out. */
  readonly optional: Set<string>;
  readonly leftOut: Set<string>;
}

/** A sample, and the optional members that no value is valid for: `data.name`. */
export type Sample = Readonly<{ value: unknown; leftOut?: readonly string[] }>;

/** A value of a schema, the same for a seed; `undefined` if none of a few is valid. */
export function sampleOf(reader: SchemaReader, node: unknown, sampling: Sampling): Sample | undefined {
  const check = reader.checkOf(node, { isStrict: true });
  let size = 0;
  const whole = { usesExamples: false, fill: "all", turn: 0 } as const;
  const leftOut = new Set<string>();
  const tries = [
    { ...whole, usesExamples: true },
    // The second and each later one lacks an optional member that was not valid in the one before.
    ...Array<typeof whole>(maxLeftOut).fill(whole),
    ...[0, 1, 2, 3].flatMap((turn) =>
      (["all", "choices", "required"] as const).map((fill) => ({ usesExamples: false, fill, turn })),
    ),
  ];
  let isStuck = false;
  for (const way of tries) {
    if (size > largestSample) break;
    if (way === whole && isStuck) continue;
    const omitted = way === whole ? leftOut : new Set<string>();
    const work = { parts: 0, checks: 0 };
    const attempt: Attempt = { ...sampling, reader, ...way, work, optional: new Set(), leftOut: omitted };
    try {
      const value = partOf(node, [], attempt);
      const mismatch = check(value);
      if (mismatch === undefined) return omitted.size === 0 ? { value } : { value, leftOut: [...omitted] };
      const last = optionalAt(mismatch, attempt);
      if (last === undefined || way !== whole) isStuck ||= way === whole;
      else leftOut.add(last);
    } catch (thrown) {
      isStuck ||= way === whole;
      if (thrown !== noSample) throw thrown;
    }
    size += attempt.work.parts;
  }
  return undefined;
}

/** The innermost optional member that a mismatch is in. */
function optionalAt({ path }: Mismatch, { optional }: Attempt): string | undefined {
  return path.map((_, at) => path.slice(0, at + 1).join(".")).findLast((place) => optional.has(place));
}

function count(attempt: Attempt, parts: number): void {
  attempt.work.parts += parts;
  if (attempt.work.parts > largestSample) throw noSample;
}

type Place = readonly string[];

function partOf(node: unknown, place: Place, attempt: Attempt): unknown {
  count(attempt, 1);
  if (place.length > maxNested) throw noSample;
  const schema = attempt.reader.whole(node);
  if (!Array.isArray(schema.oneOf) || schema.oneOf.length < 2) return valueOfSchema(schema, place, attempt);
  // A sample of one alternative may also fit another one.
  const check = attempt.reader.checkOf(node, { isStrict: true });
  for (const value of candidates(schema, schema.oneOf, place, attempt)) {
    attempt.work.checks += 1;
    if (attempt.work.checks > maxPartChecks || check(value) === undefined) return value;
  }
  throw noSample;
}

/** Samples of each alternative, then objects with a member that another alternative does not allow. */
function* candidates(schema: Members, oneOf: readonly unknown[], place: Place, attempt: Attempt) {
  const names = oneOf.flatMap((one) => Object.keys((attempt.reader.whole(one).properties ?? {}) as Members));
  const objects: Members[] = [];
  for (const fill of new Set([attempt.fill, "choices", "required"] as const))
    for (const shift of oneOf.keys()) {
      const value = valueOfSchema(schema, place, { ...attempt, fill, turn: attempt.turn + shift });
      if (fill === "required" && isMapping(value)) objects.push(value);
      yield value;
    }
  for (const value of objects)
    for (const name of names.filter((one) => !Object.hasOwn(value, one)))
      for (const wrong of [null, true]) yield { ...value, [name]: wrong };
}

function valueOfSchema(whole: Members, place: Place, attempt: Attempt): unknown {
  const schema = withOneAlternative(whole, attempt);
  const { examples = [], enum: choices } = schema;
  const [example] = examples as readonly unknown[];
  const isChoice = !Array.isArray(choices) || typeof example === "object" || choices.includes(example);
  if (attempt.usesExamples && example !== undefined && isChoice) return example;
  if (Object.hasOwn(schema, "const")) return schema.const;
  const draw = randomStream(attempt.seed, "sample", String(attempt.turn), ...place);
  if (Array.isArray(choices) && choices.length > 0) return pick(draw, choices);
  const make = makers[typeIn(schema, attempt.turn)] ?? makers.string;
  return make?.(schema, place, attempt, draw);
}

/** A schema with one of its alternatives. */
function withOneAlternative(schema: Members, attempt: Attempt, nested = 0): Members {
  if (nested > maxNested) throw noSample;
  if (schema.discriminator !== undefined)
    return withOneAlternative(namedBranch(schema, attempt), attempt, nested + 1);
  const { oneOf, anyOf, if: condition, ...own } = schema;
  const { turn, reader } = attempt;
  const alternatives = [oneOf, anyOf].flatMap((some) => {
    if (!Array.isArray(some)) return [];
    const fitting = some.filter((node) => canBoth(own, reader.view(node)));
    return [fitting.length === 0 ? some[turn % some.length] : fitting[turn % fitting.length]];
  });
  const met = [condition, schema.then ?? {}];
  if (condition !== undefined) alternatives.push(...(turn % 2 === 0 ? met : [schema.else ?? {}]));
  return alternatives.reduce<Members>((joint, node) => {
    count(attempt, 1);
    return merged(joint, withOneAlternative(reader.whole(node), attempt, nested + 1));
  }, own);
}

/** A schema with one of the schemas that its discriminator names, and the value of this one. */
function namedBranch({ discriminator, oneOf: _, anyOf: __, ...own }: Members, attempt: Attempt): Members {
  const { name, branches } = discriminator as Discriminator;
  const { reader, turn } = attempt;
  count(attempt, 1);
  const memberSchema = reader.whole(memberOf(own, name));
  const fitting = [...branches].filter(([value]) => canBoth(memberSchema, { const: value }));
  const [value, node] = fitting[turn % fitting.length] ?? [];
  if (value === undefined) throw noSample;
  const joint = merged(own, reader.whole(node));
  const { properties, required = [] } = joint as { properties?: Members; required?: readonly string[] };
  return {
    ...joint,
    properties: { ...properties, [name]: { const: value } },
    required: [...new Set([...required, name])],
  };
}

const memberOf = ({ properties = {} }: Members, name: string): unknown =>
  isMapping(properties) && Object.hasOwn(properties, name) ? properties[name] : {};

const choicesOfSchema = ({ enum: choices, const: only }: Members): readonly unknown[] | undefined =>
  only === undefined ? (choices as readonly unknown[] | undefined) : [only];

/** Whether two schemas with a choice of values have a common one. */
function canBoth(one: Members, other: Members): boolean {
  const [ours, theirs] = [choicesOfSchema(one), choicesOfSchema(other)];
  return ours === undefined || theirs === undefined || ours.some((value) => theirs.includes(value));
}

const hints: readonly (readonly [type: string, keywords: readonly string[]])[] = [
  ["object", ["properties", "additionalProperties", "required", "minProperties", "patternProperties"]],
  ["array", ["items", "prefixItems", "minItems", "contains", "uniqueItems"]],
  ["number", ["minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"]],
];

function typeIn(schema: Members, turn: number): string {
  const types = schema.type === undefined ? [] : ([schema.type].flat() as string[]);
  const useful = types.filter((type) => type !== "null");
  const hinted = hints.find(([, names]) => names.some((name) => Object.hasOwn(schema, name)))?.[0];
  return useful[turn % (useful.length || 1)] ?? types[0] ?? hinted ?? "string";
}

type Maker = (schema: Members, place: Place, attempt: Attempt, draw: RandomStream) => unknown;

const makers: Readonly<Record<string, Maker>> = {
  object: objectOf,
  array: listOf,
  string: textOf,
  integer: (schema, _, __, draw) => numberOf(schema, draw, true),
  number: (schema, _, __, draw) => numberOf(schema, draw, false),
  boolean: (_, __, ___, draw) => draw() % 2 === 0,
  null: () => null,
};

const isFuller = ({ fill, work }: Attempt, place: Place) =>
  fill === "all" && work.parts < largeSample && place.length < deepOptional;

function objectOf(schema: Members, place: Place, attempt: Attempt): unknown {
  const { properties = {}, required = [], minProperties = 0, additionalProperties = {} } = schema;
  const members = properties as Members;
  const needed = required as readonly string[];
  const values = new Map<string, unknown>();
  const add = (name: string) => {
    const node = Object.hasOwn(members, name) ? members[name] : additionalProperties;
    const at = [...place, name];
    if (!needed.includes(name)) {
      if (attempt.leftOut.has(at.join("."))) return;
      attempt.optional.add(at.join("."));
    }
    values.set(name, partOf(node, at, attempt));
  };
  // In the document's order; at the end names that only `required` has.
  const isChoice = (name: string) =>
    attempt.fill === "choices" && choicesOfSchema(attempt.reader.whole(members[name])) !== undefined;
  const optional = (name: string) => members[name] !== false && (isFuller(attempt, place) || isChoice(name));
  for (const name of Object.keys(members)) if (needed.includes(name) || optional(name)) add(name);
  for (const name of needed) if (!values.has(name)) add(name);
  for (let number = values.size + 1; number <= Number(minProperties); number++) add(`member_${number}`);
  return Object.fromEntries(values);
}

function listOf(schema: Members, place: Place, attempt: Attempt, draw: RandomStream): unknown {
  const { items = {}, prefixItems = [], contains, minItems = 0, maxItems, minContains = 1 } = schema;
  const isUnique = schema.uniqueItems === true;
  const contained = Array<unknown>(contains === undefined ? 0 : Math.min(Number(minContains), largestSample));
  const first = [...(prefixItems as readonly unknown[]), ...contained.fill(contains)];
  const usual = isFuller(attempt, place) ? 1 + (draw() % 3) : 0;
  const wanted = Math.max(Number(minItems), first.length, items === false ? 0 : usual);
  const length = Math.min(wanted, Number(maxItems ?? wanted));
  const choices = isUnique ? (choicesOfSchema(attempt.reader.whole(items)) ?? []) : [];
  const from = choices.length === 0 ? 0 : draw() % choices.length;
  const list: unknown[] = [];
  const texts = new Set<string>();
  for (let at = 0; at < length; at++) {
    const itemAt = (turn: number) =>
      at >= first.length && choices.length > 0
        ? choices[(from + at) % choices.length]
        : partOf(first[at] ?? items, [...place, String(at), ...(turn > 0 ? [String(turn)] : [])], attempt);
    let item = itemAt(0);
    const isKnown = () => isUnique && texts.has(canonicalJson(item));
    for (let turn = 1; turn <= maxTurns && isKnown(); turn++) item = itemAt(turn);
    if (isKnown() && at >= Number(minItems)) break;
    if (choices.length > 0) count(attempt, 1);
    if (isUnique) texts.add(canonicalJson(item));
    list.push(item);
  }
  return list;
}

function numberOf(schema: Members, draw: RandomStream, isWhole: boolean): number {
  const limit = (name: string, usual: number) => Number(schema[name] ?? usual);
  const step = limit("multipleOf", 1);
  const infinite = Number.POSITIVE_INFINITY;
  const low = Math.max(limit("minimum", -infinite), limit("exclusiveMinimum", -infinite) + step);
  const high = Math.min(limit("maximum", infinite), limit("exclusiveMaximum", infinite) - step);
  // Small positive numbers, if they are allowed.
  const first = Math.ceil(Math.max(low, Math.min(1, high - 99 * step)) / step);
  const steps = Math.floor(Math.min(high, (first + 99) * step) / step) - first;
  const drawn = steps < 0 ? 0 : draw() % (steps + 1);
  const values = Array.from({ length: Math.max(0, steps + 1) }, (_, at) =>
    Number(((first + ((drawn + at) % (steps + 1))) * step).toPrecision(15)),
  );
  // Such as 1.18 for steps of 0.01: a validator may divide 1.19 without rounding.
  if (steps >= 0) return values.find((value) => Number.isInteger(value / step)) ?? (values[0] as number);
  // Between two steps.
  const min = limit("minimum", limit("exclusiveMinimum", low));
  const middle = (min + limit("maximum", limit("exclusiveMaximum", high))) / 2;
  return isWhole ? Math.round(middle) : middle;
}

function textOf(schema: Members, place: Place, attempt: Attempt, draw: RandomStream): string {
  const { format, pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  if (typeof pattern === "string") return matchingText(pattern, schema, attempt, draw);
  const name = (place.findLast((step) => !/^\d+$/.test(step)) ?? "value").slice(0, 40);
  const word = `${name}-${100 + (draw() % 900)}`;
  const formatOf = Object.hasOwn(formats, String(format)) ? formats[String(format)] : undefined;
  const formatted = formatOf?.(draw, word.replace(/[^\w-]/g, "") || "a", attempt.now);
  if (formatted !== undefined) return formatted;
  count(attempt, Number(minLength));
  const rest = Number(minLength) - sizeOf(word);
  const long = rest > 0 ? `${word}-${base62From(draw, rest)}` : word;
  return [...long].slice(0, Number(maxLength)).join("");
}

const byteOf = (draw: RandomStream) => draw() % 250;
const past = (draw: RandomStream, now: number) =>
  new Date(now - (draw() % (30 * 86_400)) * 1000).toISOString();
const dateTime = (draw: RandomStream, _: string, now: number) => past(draw, now).replace(".000", "");
const date = (draw: RandomStream, _: string, now: number) => past(draw, now).slice(0, 10);
const url = (_: RandomStream, word: string) => `https://example.com/${word}`;
const email = (_: RandomStream, word: string) => `${word}@example.com`;
const host = (_: RandomStream, word: string) => `${word.replaceAll("_", "-").toLowerCase()}.example.com`;

const formats: Readonly<Record<string, (draw: RandomStream, word: string, now: number) => string>> = {
  "date-time": dateTime,
  "iso-date-time": dateTime,
  date,
  uuid: uuidFrom,
  time: (draw, _, now) => `${past(draw, now).slice(11, 19)}Z`,
  duration: (draw) => `P${1 + (draw() % 30)}D`,
  email,
  "idn-email": email,
  hostname: host,
  "idn-hostname": host,
  uri: url,
  url,
  iri: url,
  "uri-reference": url,
  "iri-reference": url,
  "uri-template": url,
  ipv4: (draw) => `192.0.2.${byteOf(draw)}`,
  ipv6: (draw) => `2001:db8::${byteOf(draw).toString(16)}`,
  byte: (_, word) => btoa(word),
  regex: () => "^a+$",
  "json-pointer": (_, word) => `/${word}`,
  "relative-json-pointer": () => "0",
};

/** The times that a repetition without an upper limit repeats at most. */
const maxRepeated = 8;

/** A text that matches a pattern, and the other keywords of its schema if one is among a few. */
function matchingText(pattern: string, schema: Members, attempt: Attempt, draw: RandomStream): string {
  const { format, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  const matches = attempt.reader.patternOf(pattern);
  const isFitting = (text: string) =>
    sizeOf(text) >= Number(minLength) &&
    sizeOf(text) <= Number(maxLength) &&
    matches(text) &&
    formatTests.get(String(format))?.(text) !== false;
  const first = matchOf(pattern, attempt, draw);
  if (isFitting(first)) return first;
  const formatted = textOf({ format }, [], attempt, draw);
  const forms = [formatted, formatted.replace(/Z$/, ".000Z"), formatted.replace(/Z$/, "+00:00")];
  const form = Object.hasOwn(formats, String(format)) ? forms.find(isFitting) : undefined;
  if (form !== undefined) return form;
  for (let turn = 1; turn <= maxTurns; turn++) {
    const text = matchOf(pattern, attempt, draw);
    if (isFitting(text)) return text;
  }
  // The fewest repetitions that are long enough.
  let [low, high] = [0, Math.min(Number(minLength), largestSample)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (sizeOf(matchOf(pattern, attempt, draw, middle)) < Number(minLength)) low = middle + 1;
    else high = middle;
  }
  return matchOf(pattern, attempt, draw, low);
}

/** A text that matches a pattern; with `repeated`, each repetition that allows it has so many. */
function matchOf(pattern: string, attempt: Attempt, draw: RandomStream, repeated?: number): string {
  let root: Tokens;
  try {
    root = tokenizer(pattern);
  } catch {
    return "";
  }
  const below = (limit: number) => draw() % Math.max(1, limit);
  const inOrder = (tokens: readonly Token[] = []) => tokens.map(textOfToken).join("");
  const textOfToken = (token: Tokens): string => {
    count(attempt, 1);
    switch (token.type) {
      case types.ROOT:
      case types.GROUP:
        if ("notFollowedBy" in token && (token.notFollowedBy || token.followedBy)) return "";
        return inOrder(
          token.options === undefined ? token.stack : token.options[below(token.options.length)],
        );
      case types.CHAR:
        return String.fromCodePoint(token.value);
      case types.SET:
        return String.fromCodePoint(pick(draw, choicesOf(token)));
      case types.REPETITION: {
        const more = Math.min(token.max - token.min, maxRepeated);
        const drawn = token.min + below(more + 1);
        const times = repeated === undefined ? drawn : Math.max(token.min, Math.min(token.max, repeated));
        let text = "";
        for (let time = 0; time < times; time++) text += textOfToken(token.value);
        return text;
      }
      default:
        return "";
    }
  };
  return textOfToken(root);
}

type SetToken = Extract<Token, { readonly type: types.SET }>;

/** Some characters of a set: readable ones if it has any. */
function choicesOf(set: SetToken): readonly number[] {
  const readable = Array.from({ length: 95 }, (_, at) => 32 + at).filter((one) => isIn(set, one));
  const words = readable.filter((one) => /\w/.test(String.fromCharCode(one)));
  const [other] = set.set;
  const first = other?.type === types.RANGE ? other.from : other?.type === types.CHAR ? other.value : 97;
  return words.length > 0 ? words : readable.length > 0 ? readable : [set.not ? 0xe9 : first];
}

function isIn({ set, not }: SetToken, one: number): boolean {
  const isThere = set.some((part) => {
    if (part.type === types.RANGE) return part.from <= one && one <= part.to;
    return part.type === types.CHAR ? part.value === one : isIn(part, one);
  });
  return isThere !== not;
}
