import { isJson } from "../api/endpoint.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping, type Path } from "../rules/schema/shape.js";
import { type ApiDocument, resolved } from "./document.js";
import { type Sample, type Sampling, sampleOf } from "./sampler.js";
import type { SchemaReader } from "./schemas.js";

// The bodies of requests and responses: JSON.

/** The JSON of a response or a request body. */
export interface Content {
  /** Its media type; empty for no JSON. */
  readonly type: string;
  /** `undefined` for none. */
  readonly schema: unknown;
  readonly reader: SchemaReader;
  readonly examples: ReadonlyMap<string, unknown>;
  readonly headers: readonly string[];
  /** The media types that are not JSON. */
  readonly others: readonly string[];
}

/** A media type without its parameters, in lower case. */
export const mediaTypeOf = (type: string) => (type.split(";", 1)[0] as string).trim().toLowerCase();

/** The content of the first media type that is JSON. */
export function contentIn(document: ApiDocument, reader: SchemaReader, at: Members, path: Path): Content {
  const media = isMapping(at.content) ? at.content : {};
  const isRead = (type: string) => isJson(type) || type.includes("*");
  const [first] = Object.keys(media).sort((one, other) => Number(isJson(other)) - Number(isJson(one)));
  const others = Object.keys(media).filter((type) => !isRead(type));
  const headers = headersIn(document, at);
  if (first === undefined || !isRead(first))
    return { type: "", schema: undefined, reader, examples: new Map(), headers, others };
  const mediaType = isMapping(media[first]) ? media[first] : {};
  reader.survey(mediaType.schema, [...path, "content", first, "schema"]);
  return {
    type: sentType(first),
    schema: mediaType.schema,
    reader,
    examples: examplesIn(document, mediaType),
    headers,
    others,
  };
}

/** The headers of a response that have an example. */
function headersIn(document: ApiDocument, { headers }: Members): string[] {
  return Object.entries(isMapping(headers) ? headers : {}).flatMap(([name, node]) => {
    const { at: header } = resolved(document, node, []);
    const { example = isMapping(header.schema) ? header.schema.example : undefined } = header;
    const isOurs = /^(?:x-request-id|x-sandbox-.*|content-.*|retry-after|.*ratelimit.*)$/i.test(name);
    const isText = ["string", "number"].includes(typeof example) && /^[\x20-\x7e]*$/.test(String(example));
    return isText && !isOurs && /^[\w-]+$/.test(name) ? [name, String(example)] : [];
  });
}

/** The examples of a media type or a parameter, by name. */
export function examplesIn(document: ApiDocument, { examples, ...media }: Members): Map<string, unknown> {
  const byName = new Map<string, unknown>();
  if (Object.hasOwn(media, "example")) byName.set("example", media.example);
  for (const [name, node] of Object.entries(isMapping(examples) ? examples : {})) {
    const { at: example } = resolved(document, node, []);
    if (Object.hasOwn(example, "value")) byName.set(name, example.value);
  }
  return byName;
}

/** The media type of a response in a header. */
function sentType(type: string): string {
  return isJson(type) && /^[\x20-\x7e]+$/.test(type) ? type : "application/json";
}

/** The body of a response: the example with this name, the first valid one, or a sample of the schema. */
export function sampledBody(
  { schema, reader, examples }: Content,
  sampling: Sampling,
  name?: string,
): Sample | undefined {
  if (name !== undefined && examples.has(name)) return { value: examples.get(name) };
  const check = reader.checkOf(schema);
  const valid = [...examples.values()].find((value) => check(value) === undefined);
  if (valid !== undefined || schema === undefined) return { value: valid ?? {} };
  const [first] = examples.values();
  return (
    sampleOf(reader, schema, sampling) ??
    (examples.size > 0 && reader.direction === "response" ? { value: first } : undefined)
  );
}
