import Negotiator from "negotiator";
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
  /** The same in other media types. */
  readonly others: readonly Content[];
}

/** A media type without its parameters, in lower case. */
export const mediaTypeOf = (type: string) => (type.split(";", 1)[0] as string).trim().toLowerCase();

export const isJsonType = (type: string) => /^[\w.+-]+\/(?:[\w.-]+\+)?json$/.test(mediaTypeOf(type));

/** The content in its first media type, JSON if it has that. */
export function contentIn(document: ApiDocument, reader: SchemaReader, at: Members, path: Path): Content {
  const media = isMapping(at.content) ? at.content : {};
  const rank = (type: string) => (isJsonType(type) ? 0 : type.includes("*") ? 1 : 2);
  const types = Object.keys(media).sort((one, other) => rank(one) - rank(other));
  const none = { ...{ type: "", isJson: false, schema: undefined, reader, others: [] }, examples: new Map() };
  const [first, ...others] = types.map((type): Content => {
    const { schema, ...one } = (isMapping(media[type]) ? media[type] : {}) as Members;
    reader.survey(schema, [...path, "content", type, "schema"]);
    const isJson = isJsonType(type) || type.includes("*");
    const examples = examplesIn(document, one);
    return { ...none, type: sentType(type), isJson, schema, examples };
  });
  return { ...none, ...first, others };
}

/** The examples of a media type or a parameter, by name. */
export function examplesIn(document: ApiDocument, { examples, ...media }: Members): Map<string, unknown> {
  const found = new Map<string, unknown>();
  if (Object.hasOwn(media, "example")) found.set("example", media.example);
  for (const [name, node] of Object.entries(isMapping(examples) ? examples : {})) {
    const { at: example } = resolved(document, node, []);
    if (Object.hasOwn(example, "value")) found.set(name, example.value);
  }
  return found;
}

/** The content in a media type that the header `Accept` names; `undefined` if it names none of them. */
export function acceptedContent(content: Content, accept: string): Content | undefined {
  const all = [content, ...content.others];
  // Parameters such as the charset are no reason to send nothing.
  const wanted = accept.slice(0, 1000).replace(/;\s*(?!q=)[^;,]*/gi, "");
  const known = all.map(({ type }) => mediaTypeOf(type));
  const [chosen] = new Negotiator({ headers: { accept: wanted } }).mediaTypes(known);
  return all[known.indexOf(chosen as string)];
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
  const [first] = examples.values();
  return (
    sampleOf(reader, schema, sampling) ??
    (examples.size > 0 && reader.direction === "response" ? { value: first } : undefined)
  );
}
