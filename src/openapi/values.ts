import type { EndpointInput } from "../api/endpoint.js";
import { decoded } from "../scenario/files.js";
import type { RequestContent } from "../spec/request.js";
import { headerIn } from "../spec/request-traits.js";
import { parsedJson } from "../spec/schema/json.js";
import type { Members } from "../spec/schema/messages.js";
import { isMapping } from "../spec/schema/shape.js";
import { isJsonType, mediaTypeOf } from "./contents.js";
import type { Parameter } from "./operations.js";

// The values of parameters and bodies in a request's texts, and the reverse. docs/openapi.md has a row for each of these tables.

type Sent = Pick<RequestContent, "query" | "headers"> & Pick<EndpointInput, "params">;

/** The texts with a name, by the place of a parameter. */
export const parameterPlaces: Readonly<Record<string, (sent: Sent, name: string) => readonly string[]>> = {
  path: ({ params }, name) => [decoded(params[name] ?? "")],
  query: ({ query }, name) => new URLSearchParams(query).getAll(name),
  header: ({ headers }, name) => [headerIn(headers, name.toLowerCase()) ?? []].flat(),
  cookie: ({ headers }, name) =>
    (headerIn(headers, "cookie") ?? "").split(";").flatMap((one) => {
      const [, found, value = ""] = /^\s*([^=]*)=?(.*?)\s*$/s.exec(one) ?? [];
      return found === name ? [decoded(value)] : [];
    }),
};

/** What is between the items of a list in one text, by the style of the parameter. */
export const separators: Readonly<Record<string, string>> = {
  form: ",",
  simple: ",",
  spaceDelimited: " ",
  pipeDelimited: "|",
};
/** The style with `filter[from]=1` for a member of an object in a query. */
export const deepStyle = "deepObject";

const memberName = ({ name, at }: Parameter, member: string) =>
  at.style === deepStyle ? `${name}[${member}]` : member;
const isExploded = ({ in: where, at: { style = "form", explode = style === "form" } }: Parameter) =>
  where === "query" && explode === true;
const separatorOf = ({ at }: Parameter) => separators[String(at.style)] ?? ",";

/** The value of a parameter as texts; `undefined` for none. */
export function valueSent(
  parameter: Parameter,
  { type, properties, oneOf, anyOf }: Members,
  sent: Sent,
): unknown {
  const given = (name: string) => parameterPlaces[parameter.in]?.(sent, name) ?? [];
  if (type === "object" && parameter.in === "query") {
    const alternatives = [oneOf, anyOf].flat().filter(isMapping);
    const all = [properties, ...alternatives.map((one) => one.properties)].filter(isMapping);
    const members = [...new Set(all.flatMap(Object.keys))]
      .map((member) => [member, given(memberName(parameter, member))[0]] as const)
      .filter(([, value]) => value !== undefined);
    return members.length === 0 ? undefined : Object.fromEntries(members);
  }
  const all = given(parameter.name);
  if (type !== "array" || all.length === 0) return all[0];
  return isExploded(parameter)
    ? all
    : all.flatMap((one) => one.split(separatorOf(parameter)).map((item) => item.trim()));
}

/** The names and texts that send a value. */
export function textsOf(parameter: Parameter, value: unknown): [name: string, text: string][] {
  const { name } = parameter;
  if (isMapping(value) && parameter.in === "query")
    return Object.entries(value).map(([member, inner]) => [memberName(parameter, member), textOf(inner)]);
  if (!Array.isArray(value)) return [[name, textOf(value)]];
  const items = value.map(textOf);
  return isExploded(parameter)
    ? items.map((item) => [name, item])
    : [[name, items.join(separatorOf(parameter))]];
}

const textOf = (value: unknown) => (typeof value === "object" ? JSON.stringify(value) : String(value));

const formType = "application/x-www-form-urlencoded";

interface BodyForm {
  /** As on the page. */
  readonly name: string;
  readonly checked: string;
  readonly is: (type: string) => boolean;
  /** The value of a text; `undefined` if it has none. Without it, a body is not read. */
  readonly read?: (text: string, schema: Members) => unknown;
  /** Whether its plain values are texts. */
  readonly hasTexts?: boolean;
  readonly write: (value: unknown) => string;
}

/** How bodies are read, the first that fits. */
export const bodyForms: readonly BodyForm[] = [
  { name: "JSON", checked: "yes", is: isJsonType, read: parsedJson, write: JSON.stringify },
  {
    name: "forms",
    checked: "yes, also nested members such as `card[number]=42`",
    is: (type) => mediaTypeOf(type) === formType,
    ...{ read: formIn, hasTexts: true },
    write: (value) => String(new URLSearchParams(isMapping(value) ? fieldsOf(value) : [])),
  },
  { name: "other media types", checked: "only the media type", is: () => true, write: () => "a" },
];

export const bodyFormOf = (type: string) => bodyForms.find(({ is }) => is(type)) as BodyForm;

/** The members of a form; a repeated one is a list, and `a[b]` is the member `b` of `a` unless the schema has that name. */
function formIn(text: string, { properties = {} }: Members): Members {
  const given = new URLSearchParams(text);
  const form: Record<string, unknown> = Object.create(null);
  for (const name of new Set(given.keys())) {
    const [first, ...more] = given.getAll(name);
    const isOwn = Object.hasOwn(properties as Members, name);
    const [, start = name, rest = ""] = isOwn ? [] : (/^([^[\]]+)((?:\[[^[\]]*\]){1,10})$/.exec(name) ?? []);
    const steps = [start, ...Array.from(rest.matchAll(/\[(.*?)\]/g), ([, step]) => step as string)];
    const isList = steps.length > 1 && steps.at(-1) === "";
    if (isList) steps.pop();
    let holder = form;
    for (const step of steps.slice(0, -1)) {
      if (!isMapping(holder[step])) holder[step] = Object.create(null);
      holder = holder[step] as Record<string, unknown>;
    }
    holder[steps.at(-1) as string] = isList || more.length > 0 ? [first, ...more] : first;
  }
  return { ...form };
}

/** The fields of a form: objects and lists in it as `a[b]` and `a[0]`. */
function fieldsOf(value: object, around?: string): [name: string, text: string][] {
  return Object.entries(value).flatMap(([name, one]): [string, string][] => {
    const full = around === undefined ? name : `${around}[${name}]`;
    if (typeof one !== "object" || one === null) return [[full, String(one ?? "")]];
    const isPlain = Array.isArray(one) && one.every((item) => typeof item !== "object");
    return isPlain ? one.map((item) => [full, String(item)]) : fieldsOf(one, full);
  });
}
