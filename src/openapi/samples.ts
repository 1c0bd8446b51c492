import { type Options, sample as sampleWith } from "openapi-sampler";
import { isJson, jsonBody, textBody } from "../api/messages.js";
import { memberIn, parsedJson } from "../rules/schema/json.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping, type Path, pathText } from "../rules/schema/shape.js";
import type { Success } from "../sandbox/endpoint.js";
import { type ApiDocument, decoded, type Notes, resolved } from "./document.js";
import type { Check, Schemas } from "./schemas.js";

// Bodies and headers of responses: the first documented example that fits, or a sample, whole or with fewer members.

/** The JSON of a response or a request body. */
export interface Content {
  /** Its media type; empty for no JSON. */
  readonly type: string;
  /** `undefined` for none. */
  readonly schema: unknown;
  readonly path: Path;
  readonly check: Check;
  readonly examples: ReadonlyMap<string, unknown>;
  /** The media types that are not JSON. */
  readonly others: readonly string[];
}

/** The schemas of a document for requests, for responses, and for the samples of both. */
export interface SchemasByUse {
  readonly request: Schemas;
  readonly response: Schemas;
  readonly sample: Schemas;
}

/** A media type without its parameters, in lower case. */
export const mediaTypeOf = (type: string) => (type.split(";", 1)[0] as string).trim().toLowerCase();

/** The content of the first media type that is JSON. */
export function contentIn(schemas: Schemas, node: Members, path: Path): Content {
  const { document } = schemas;
  const media = isMapping(node.content) ? node.content : {};
  const types = Object.keys(media);
  const others = types.filter((type) => !isJson(type) && !type.includes("*"));
  const type = types.find(isJson) ?? types.find((one) => one.includes("*"));
  if (type === undefined)
    return { type: "", schema: undefined, path, check: () => undefined, examples: new Map(), others };
  const { node: mediaType } = resolved(document, media[type], []);
  const place = [...path, "content", type, "schema"];
  const { schema } = mediaType;
  const check = schema === undefined ? () => undefined : schemas.checkOf(schema, place);
  const isSendable = isJson(type) && /^[\x20-\x7e]+$/.test(type);
  const examples = examplesIn(document, mediaType);
  return { type: isSendable ? type : "application/json", schema, path: place, check, examples, others };
}

/** The examples of a media type or a parameter, by name. */
export function examplesIn(document: ApiDocument, { examples, ...media }: Members): Map<string, unknown> {
  const byName = new Map<string, unknown>();
  if (Object.hasOwn(media, "example")) byName.set("example", media.example);
  for (const [name, node] of Object.entries(isMapping(examples) ? examples : {})) {
    const { node: example } = resolved(document, node, []);
    if (Object.hasOwn(example, "value")) byName.set(name, example.value);
  }
  return byName;
}

/** A value for a schema, and whether it has all members that the schema describes. */
interface Sample {
  readonly value: unknown;
  readonly isWhole: boolean;
}

const whole: Options = { quiet: true, enablePatterns: true };
const required: Options = { ...whole, skipNonRequired: true };
/** The members and items of a sample; a text counts with its length. */
const largestSample = 20_000;
const maxLevels = 15;
const maxLeftOut = 10;

/** A valid sample of a schema: whole, then without members that are not valid, then with the required ones only. */
export function sampleOf(
  { sample: schemas }: SchemasByUse,
  { schema, path, check }: Pick<Content, "schema" | "path" | "check">,
  direction: "request" | "response",
): Sample | undefined {
  const skip = direction === "request" ? { skipReadOnly: true } : { skipWriteOnly: true };
  const converted = schemas.converted(schema, path);
  for (const options of [whole, required]) {
    const value = sampledWith(schemas, converted, { ...options, ...skip });
    if (value === undefined) continue;
    const left = withoutMismatches(value, check);
    if (left !== undefined) return { value: left.value, isWhole: options === whole && left.isWhole };
  }
  return undefined;
}

function sampledWith(schemas: Schemas, schema: unknown, options: Options): unknown {
  if (!isMapping(schema)) return schema === true ? {} : undefined;
  const { warn } = console;
  // The sampler also warns if it should be quiet.
  console.warn = () => {};
  try {
    measure(schemas, schema, options.skipNonRequired === true, { left: largestSample }, []);
    const value = sampleWith(schema, options, schemas.targets);
    return value === undefined ? undefined : parsedJson(JSON.stringify(value));
  } catch {
    return undefined;
  } finally {
    console.warn = warn;
  }
}

/** Throws before the sampler makes too much: large lists and texts, and types that contain themselves many times. */
function measure(
  schemas: Schemas,
  node: unknown,
  isSmall: boolean,
  room: { left: number },
  above: readonly unknown[],
): void {
  const schema = schemas.target(node);
  const {
    properties = {},
    required: needed = [],
    items,
    prefixItems = [],
    minItems = 1,
    minLength = 0,
  } = schema;
  const repeated = Array.from(String(schema.pattern ?? "").matchAll(/\{(\d+)/g), ([, times]) =>
    Number(times),
  );
  room.left -= 1 + Number(minLength) + repeated.reduce((product, times) => product * Math.max(1, times), 1);
  if (room.left < 0) throw new RangeError("the sample is too large");
  if (above.includes(schema) || above.length > maxLevels * 3) return;
  const inside = (one: unknown) => measure(schemas, one, isSmall, room, [...above, schema]);
  for (const [name, member] of Object.entries(properties as Members))
    if (!isSmall || (needed as readonly unknown[]).includes(name)) inside(member);
  for (const part of [schema.allOf ?? [], prefixItems].flat()) inside(part);
  for (const some of [schema.oneOf, schema.anyOf]) if (Array.isArray(some)) inside(some[0]);
  if (isMapping(items)) for (let item = 0; item < Number(minItems); item++) inside(items);
  // The sampler makes two of them.
  if (isMapping(schema.additionalProperties))
    for (const member of Array(2).fill(schema.additionalProperties)) inside(member);
}

/** A value without the members that are not valid; `undefined` if it needs one of them. */
function withoutMismatches(value: unknown, check: Check): Sample | undefined {
  for (let left = 0; left < maxLeftOut; left++) {
    const mismatch = check(value);
    if (mismatch === undefined) return { value, isWhole: left === 0 };
    const { path, isMissing } = mismatch;
    const at = path.findLastIndex((_, index) => isMapping(memberAt(value, path.slice(0, index))));
    const holder = memberAt(value, path.slice(0, at));
    if (isMissing || at === -1 || !isMapping(holder)) return undefined;
    delete (holder as Record<string, unknown>)[String(path[at])];
  }
  return undefined;
}

function memberAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, step) => (Array.isArray(inner) ? inner[Number(step)] : memberIn(inner, [step])),
    value,
  );
}

/** A body: the example with this name, the first valid one, a sample, or an example that is not valid. */
export function bodyFor(
  schemas: SchemasByUse,
  content: Content,
  direction: "request" | "response",
  name?: string,
): (Sample & { readonly isSampled?: true }) | undefined {
  const { examples, schema, check } = content;
  if (name !== undefined && examples.has(name)) return { value: examples.get(name), isWhole: true };
  const values = [...examples.values()];
  const valid = values.find((value) => check(value) === undefined);
  if (valid !== undefined) return { value: valid, isWhole: true };
  if (schema === undefined) return { value: {}, isWhole: true };
  const sample = sampleOf(schemas, content, direction);
  if (sample !== undefined) return { ...sample, isSampled: true };
  return values.length > 0 && direction === "response" ? { value: values[0], isWhole: false } : undefined;
}

type SampledSuccess = Success & { readonly isSampled?: true };

export interface DocumentedResponse {
  readonly content: Content;
  /** The response with the example of this name, or with its usual body. The same text each time. */
  readonly withExample: (name?: string) => SampledSuccess;
}

export function documentedResponse(schemas: SchemasByUse, node: Members, path: Path): DocumentedResponse {
  const content = contentIn(schemas.response, node, path);
  const byExample = new Map<string, SampledSuccess>();
  return {
    content,
    withExample(name = "") {
      const example = content.examples.has(name) ? name : "";
      const success = byExample.get(example) ?? successWith(content, example);
      byExample.set(example, success);
      return success;
    },
  };

  function successWith({ type }: Content, example: string): SampledSuccess {
    const headers = headersIn(schemas, node, path);
    if (type === "") return { ...textBody(""), headers };
    const { value, isSampled } = bodyFor(schemas, content, "response", example) ?? {};
    const typed = type === "application/json" ? {} : { type };
    return { ...jsonBody(value ?? {}), headers, ...typed, ...(isSampled && { isSampled }) };
  }
}

/** The headers of the connection, and those that the sandbox sends itself. */
const ownHeaders =
  /^(?:transfer-encoding|connection|keep-alive|trailer|upgrade|date|x-request-id|x-sandbox-.*|content-.*|retry-after|.*ratelimit.*)$/i;

/** The headers of a response that have an example, a default, one choice, or are required. */
function headersIn(schemas: SchemasByUse, { headers }: Members, path: Path): string[] {
  const { document } = schemas.response;
  return Object.entries(isMapping(headers) ? headers : {}).flatMap(([name, node]) => {
    if (ownHeaders.test(name) || !/^[\w-]+$/.test(name)) return [];
    const { node: header } = resolved(document, node, []);
    const { node: schema } = resolved(document, header.schema, []);
    const [example] = examplesIn(document, header).values();
    const [first, second] = [schema.enum ?? []].flat() as readonly unknown[];
    const [listed] = [schema.examples ?? []].flat() as readonly unknown[];
    const only = schema.const ?? (second === undefined ? first : undefined);
    const place = [...path, "headers", name, "schema"];
    const check = schemas.response.checkOf(header.schema, place);
    const sampled = () => sampleOf(schemas, { schema: header.schema, path: place, check }, "response")?.value;
    const described = example ?? schema.example ?? listed ?? schema.default ?? only;
    const value = described ?? (header.required === true ? sampled() : undefined);
    const text = Array.isArray(value) ? value.join(",") : String(value);
    const isSendable =
      !isMapping(value) && value !== undefined && /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text);
    return isSendable ? [name, text] : [];
  });
}

/** A sampled response with the value of the path's last parameter in the member of this name, if that is valid. */
export function withPathValue(
  success: Success,
  { check }: Content,
  params: Readonly<Record<string, string>>,
): Success {
  const [name, text] = Object.entries(params).at(-1) as [name: string, text: string];
  const body: unknown = parsedJson(success.text);
  const [place, holder] = isMapping(body) && isMapping(body.data) ? ["data", body.data] : ["", body];
  if (!isMapping(holder)) return success;
  const member = [name, ...(/id$/i.test(name) ? ["id"] : [])].find((one) => Object.hasOwn(holder, one));
  if (member === undefined) return success;
  const changed = { ...holder, [member]: typeof holder[member] === "number" ? Number(text) : decoded(text) };
  const value = place === "" ? changed : { ...(body as Members), [place]: changed };
  return check(value) === undefined ? { ...success, ...jsonBody(value) } : success;
}

/** Notes about the examples and samples of a content. */
export function noteSamples(notes: Notes, id: string, schemas: SchemasByUse, content: Content): void {
  const { type, examples, others, check } = content;
  if (type === "" && others.length > 0) {
    const what = "without a body, because only JSON is served";
    notes.add("broken", id, ["responds", "operations respond"], what, others.join(", "));
  }
  if (type === "") return;
  noteExamples(notes, id, examples, check);
  if (bodyFor(schemas, content, "response") !== undefined) return;
  const what = "{}: the schema allows no sample that the sandbox can make. Add an example";
  notes.add("broken", id, ["responds with", "operations respond with"], what);
}

export function noteExamples(notes: Notes, id: string, examples: Content["examples"], check: Check): void {
  for (const [name, value] of examples) {
    const mismatch = check(value);
    if (mismatch === undefined) continue;
    const why = [pathText(mismatch.path), mismatch.message].filter((one) => one !== "").join(" ");
    notes.add(
      "differs",
      `${id} ${name}`,
      ["does not fit its schema", "examples do not fit their schemas"],
      "",
      why,
    );
  }
}
