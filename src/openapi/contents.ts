import type { JsonSchema } from "../spec/schema/json-schema.js";
import type { Members } from "../spec/schema/messages.js";
import { isMapping, type Path } from "../spec/schema/shape.js";
import { type ApiDocument, resolved } from "./document.js";
import { type Direction, type Schemas, sampleOf } from "./schemas.js";

// The bodies of requests and responses.

/** A response or a request body in one media type. */
export interface Content {
  readonly type: string;
  readonly isJson: boolean;
  /** `undefined` for none. */
  readonly schema: (() => JsonSchema) | undefined;
  readonly examples: ReadonlyMap<string, unknown>;
  readonly headers: readonly string[];
}

/** A media type without its parameters, in lower case. */
export const mediaTypeOf = (type: string) => (type.split(";", 1)[0] as string).trim().toLowerCase();

export const isJsonType = (type: string) => /^[\w.+-]+\/(?:[\w.-]+\+)?json$/.test(mediaTypeOf(type));

export function contentIn(
  document: ApiDocument,
  schemas: Schemas,
  at: Members,
  path: Path,
  direction: Direction,
): Content {
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
  if (type === undefined) return { type: "", isJson: false, schema: undefined, examples: new Map(), headers };
  const media = isMapping(content[type]) ? content[type] : {};
  const place = [...path, "content", type];
  const isJson = isJsonType(type) || type.includes("*");
  const examples = new Map<string, unknown>();
  if (Object.hasOwn(media, "example")) examples.set("example", media.example);
  for (const [name, node] of Object.entries(isMapping(media.examples) ? media.examples : {})) {
    const { at: example } = resolved(document, node, []);
    if (Object.hasOwn(example, "value")) examples.set(name, example.value);
  }
  const schema = lazily(() => schemas.schemaAt(media.schema, direction, [...place, "schema"]));
  // Made now, for its problems.
  if (media.schema !== undefined) schema();
  return {
    type: sentType(type),
    isJson,
    schema: media.schema === undefined ? undefined : schema,
    examples,
    headers,
  };
}

/** The media type of a response in a header. */
function sentType(type: string): string {
  if (type.includes("*")) return "application/json";
  return /^[\x20-\x7e]+$/.test(type) ? type : "application/octet-stream";
}

/** The body of a response: the example with this name, the first valid one, or a sample of the schema. */
export function sampledBody(
  { checkOf }: Schemas,
  content: Content,
  seed: number,
  name?: string,
): { readonly value: unknown } | undefined {
  const { schema, examples } = content;
  const check = schema === undefined ? () => undefined : checkOf(schema());
  if (name !== undefined && examples.has(name)) return { value: examples.get(name) };
  const valid = [...examples.values()].find((value) => check(value) === undefined);
  if (valid !== undefined || schema === undefined) return { value: valid ?? {} };
  return sampleOf(schema(), check, seed);
}

/** A value that is made when it is first needed. */
export function lazily<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
