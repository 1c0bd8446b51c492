import type { Members } from "../spec/schema/messages.js";
import { isMapping, type Path } from "../spec/schema/shape.js";
import { type ApiDocument, resolved } from "./document.js";
import { type Sampling, sampleOf } from "./sampler.js";
import type { SchemaReader } from "./schemas.js";

// The bodies of requests and responses.

/** A response or a request body in one media type. */
export interface Content {
  readonly type: string;
  readonly isJson: boolean;
  /** `undefined` for none. */
  readonly schema: unknown;
  readonly reader: SchemaReader;
  readonly examples: ReadonlyMap<string, unknown>;
  readonly headers: readonly string[];
}

/** A media type without its parameters, in lower case. */
export const mediaTypeOf = (type: string) => (type.split(";", 1)[0] as string).trim().toLowerCase();

export const isJsonType = (type: string) => /^[\w.+-]+\/(?:[\w.-]+\+)?json$/.test(mediaTypeOf(type));

export function contentIn(document: ApiDocument, reader: SchemaReader, at: Members, path: Path): Content {
  const content = isMapping(at.content) ? at.content : {};
  const types = Object.keys(content);
  const type = types.find(isJsonType) ?? types.find((one) => one.includes("*")) ?? types[0];
  const headers = Object.entries(isMapping(at.headers) ? at.headers : {}).flatMap(([name, node]) => {
    const { at: header } = resolved(document, node, []);
    const { example = isMapping(header.schema) ? header.schema.example : undefined } = header;
    const isOurs = /^(?:x-request-id|x-sandbox-.*|content-.*|retry-after|.*ratelimit.*)$/i.test(name);
    const isText = ["string", "number"].includes(typeof example) && /^[\x20-\x7e]*$/.test(String(example));
    return isText && !isOurs && /^[\w-]+$/.test(name) ? [name, String(example)] : [];
  });
  const none = { type: "", isJson: false, schema: undefined, reader, examples: new Map(), headers };
  if (type === undefined) return none;
  const media = isMapping(content[type]) ? content[type] : {};
  const examples = new Map<string, unknown>();
  if (Object.hasOwn(media, "example")) examples.set("example", media.example);
  for (const [name, node] of Object.entries(isMapping(media.examples) ? media.examples : {})) {
    const { at: example } = resolved(document, node, []);
    if (Object.hasOwn(example, "value")) examples.set(name, example.value);
  }
  reader.survey(media.schema, [...path, "content", type, "schema"]);
  const isJson = isJsonType(type) || type.includes("*");
  return { ...none, type: sentType(type), isJson, schema: media.schema, examples };
}

/** The media type of a response in a header. */
function sentType(type: string): string {
  if (type.includes("*")) return "application/json";
  return /^[\x20-\x7e]+$/.test(type) ? type : "application/octet-stream";
}

/** The body of a response: the example with this name, the first valid one, or a sample of the schema. */
export function sampledBody(
  { schema, reader, examples }: Content,
  sampling: Sampling,
  name?: string,
): { readonly value: unknown } | undefined {
  if (name !== undefined && examples.has(name)) return { value: examples.get(name) };
  const check = reader.checkOf(schema);
  const valid = [...examples.values()].find((value) => check(value) === undefined);
  if (valid !== undefined || schema === undefined) return { value: valid ?? {} };
  return sampleOf(reader, schema, sampling);
}

/** A value that is made when it is first needed. */
export function lazily<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
