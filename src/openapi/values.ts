import type { EndpointInput } from "../api/endpoint.js";
import type { RequestContent } from "../rules/request.js";
import { headerIn } from "../rules/request-traits.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping } from "../rules/schema/shape.js";
import { decoded } from "../scenario/files.js";
import type { Parameter } from "./operations.js";

// The values of parameters in a request's texts, and the reverse. docs/openapi.md has a row for each of these tables.

type Sent = Pick<RequestContent, "headers"> & Pick<EndpointInput, "params"> & { readonly query: string };

const plainQuery = (text: string) => new URLSearchParams(`=${text}`).get("") ?? "";

interface Place {
  /** The texts with a name, as they are sent. */
  readonly texts: (sent: Sent, name: string) => readonly string[];
  readonly decode: (text: string) => string;
}

/** Where parameters are. */
export const parameterPlaces: Readonly<Record<string, Place>> = {
  path: { texts: ({ params }, name) => [params[name] ?? ""], decode: decoded },
  query: {
    texts: ({ query }, name) =>
      query.split("&").flatMap((pair) => {
        const [, own = "", text = ""] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
        return pair !== "" && plainQuery(own) === name ? [text] : [];
      }),
    decode: plainQuery,
  },
  header: {
    texts: ({ headers }, name) => [headerIn(headers, name.toLowerCase()) ?? []].flat(),
    decode: (text) => text,
  },
};

/** What is between the items of a list in one text, by the style of the parameter. */
export const separators: Readonly<Record<string, string>> = {
  form: ",",
  simple: ",",
  spaceDelimited: " ",
  pipeDelimited: "|",
};
const isExploded = ({ in: where, at: { style = "form", explode = style === "form" } }: Parameter) =>
  where === "query" && explode === true;
const separatorOf = ({ at }: Parameter) =>
  (Object.hasOwn(separators, String(at.style)) ? separators[String(at.style)] : undefined) ?? ",";

/** The value of a parameter as texts; `undefined` for none. */
export function valueSent(
  parameter: Parameter,
  { type, properties, oneOf, anyOf }: Members,
  sent: Sent,
): unknown {
  const { texts, decode } = parameterPlaces[parameter.in] as Place;
  const textsOf = (name: string) => texts(sent, name).map(decode);
  if (type === "object" && parameter.in === "query") {
    const alternatives = [oneOf, anyOf].flat().filter(isMapping);
    const objects = [properties, ...alternatives.map((one) => one.properties)].filter(isMapping);
    const members = [...new Set(objects.flatMap(Object.keys))]
      .map((member) => [member, textsOf(member)[0]] as const)
      .filter(([, value]) => value !== undefined);
    return members.length === 0 ? undefined : Object.fromEntries(members);
  }
  const values = textsOf(parameter.name);
  if (type !== "array" || values.length === 0) return values[0];
  return isExploded(parameter)
    ? values
    : texts(sent, parameter.name).flatMap((text) => itemsIn(text, separatorOf(parameter), decode));
}

/** The items of a list. An encoded separator belongs to an item, unless all are encoded, as some clients do. */
function itemsIn(text: string, separator: string, decode: Place["decode"]): string[] {
  const items = text.includes(separator) ? text.split(separator).map(decode) : decode(text).split(separator);
  return items.map((item) => item.trim());
}

/** The names and texts that send a value. */
export function textsOf(parameter: Parameter, value: unknown): [name: string, text: string][] {
  const { name } = parameter;
  if (isMapping(value) && parameter.in === "query")
    return Object.entries(value).map(([member, inner]) => [member, textOf(inner)]);
  if (!Array.isArray(value)) return [[name, textOf(value)]];
  const items = value.map(textOf);
  return isExploded(parameter)
    ? items.map((item) => [name, item])
    : [[name, items.join(separatorOf(parameter))]];
}

const textOf = (value: unknown) => (typeof value === "object" ? JSON.stringify(value) : String(value));
