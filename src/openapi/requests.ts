import { type EndpointInput, isJson, type OwnRejection, type OwnRejectionPath } from "../api/endpoint.js";
import { errorBody, jsonBody } from "../api/messages.js";
import { outcomeOf } from "../rules/outcomes.js";
import { redactEncoded } from "../rules/redact.js";
import { headerIn, type RequestContent } from "../rules/request.js";
import { isTooDeep, parsedJson } from "../rules/schema/json.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping, type Shape } from "../rules/schema/shape.js";
import { type ApiDocument, decoded, resolved } from "./document.js";
import type { Mismatch } from "./keywords.js";
import { keptIn, once } from "./once.js";
import {
  type Content,
  contentAt,
  contentIn,
  examplesIn,
  mediaTypeOf,
  type Operation,
  type Parameter,
  parameterNames,
  sampledBody,
} from "./operations.js";
import { ofExamples, type Sampling, sampleOf } from "./sampler.js";
import type { SchemaReader, Schemas } from "./schemas.js";
import { shapeOfSchema } from "./shapes.js";
import { type Check, maxBodyLevels } from "./validator.js";

/** What the requests of an operation may have. */
interface Accepted {
  readonly operation: Operation;
  readonly document: ApiDocument;
  readonly reader: SchemaReader;
  readonly rejections: ReturnType<typeof rejectionsOf>;
  readonly parameters: readonly Parameter[];
  readonly checkParameters: Check;
  /** The schema of all parameters. */
  readonly ofParameters: Members;
  readonly body: AcceptedBody | undefined;
}

interface AcceptedBody {
  readonly content: Content;
  readonly types: readonly string[];
  readonly isRequired: boolean;
  readonly shape: Shape;
  readonly example: unknown;
}

/** The styles of parameters that are not read. */
const isUnread = ({ node }: Pick<Parameter, "node">) => node.style === "deepObject";
/** The headers that the sandbox reads itself. */
export const ownHeaders = ["accept", "authorization", "content-type", "x-api-key"];
const isOwnHeader = (one: Parameter) => one.in === "header" && ownHeaders.includes(one.name.toLowerCase());

/** The checks of an operation's input, and a request that passes them. */
export function inputOf(operation: Operation, document: ApiDocument, { request: reader }: Schemas) {
  const accepted = acceptedBy(operation, document, reader);
  const { parameters, body, rejections } = accepted;
  const inQuery = parameters.filter((one) => one.in === "query");
  const shapes = inQuery.map(({ name, node }) => [name, shapeOfSchema(reader, node.schema)] as const);
  const input = {
    ...(inQuery.length > 0 && { query: Object.fromEntries(shapes) }),
    ...(body !== undefined && { body }),
    read: (asked: EndpointInput, sent: RequestContent) => readInput(accepted, asked, sent),
  };
  const inputRejections = [rejections.unreadable, rejections.mismatched];
  noteUncheckedIn(document, accepted);
  return {
    input,
    ask: (sampling: Sampling) => requestTo(accepted, sampling),
    rejections: parameters.length > 0 || body !== undefined ? [...new Set(inputRejections)] : [],
  };
}

function acceptedBy(operation: Operation, document: ApiDocument, reader: SchemaReader): Accepted {
  const { node, place } = operation;
  const parameters = operation.parameters.filter(
    (one) => isMapping(one.node.schema) && places.includes(one.in) && !isOwnHeader(one) && !isUnread(one),
  );
  for (const parameter of parameters) reader.survey(parameter.node.schema, [...parameter.place, "schema"]);
  const inPlace = (where: string) => {
    const here = parameters.filter((one) => one.in === where);
    const required = here.filter((one) => one.isRequired).map(({ name }) => name);
    const properties = Object.fromEntries(here.map((one) => [one.name, schemaOfSent(one)]));
    return { type: "object", properties, required };
  };
  const ofParameters = {
    type: "object",
    properties: Object.fromEntries(places.map((where) => [where, inPlace(where)])),
  };
  const { node: body, path } = resolved(document, node.requestBody, [...place, "requestBody"]);
  const types = Object.keys(isMapping(body.content) ? body.content : {});
  const content = types.length === 0 ? undefined : contentIn(document, reader, body, path);
  return {
    operation,
    document,
    reader,
    parameters,
    ofParameters,
    rejections: rejectionsOf(operation),
    checkParameters: reader.checkOf(ofParameters, { reads: true }),
    body: content && bodyOf(content, types, body.required === true),
  };
}

function bodyOf(content: Content, types: readonly string[], isRequired: boolean): AcceptedBody {
  const shape = once(() => shapeOfSchema(content.reader, content.schema));
  const example = once(() => sampledBody(content, ofExamples)?.value);
  return {
    content,
    types,
    isRequired,
    get shape() {
      return shape();
    },
    get example() {
      return example();
    },
  };
}

const allowsEmpty = ({ in: where, node }: Parameter) => where === "query" && node.allowEmptyValue === true;

function schemaOfSent(one: Parameter): unknown {
  const { schema } = one.node;
  return allowsEmpty(one) ? { anyOf: [{ const: "" }, schema] } : schema;
}

export function noteUnchecked({ notes }: ApiDocument, id: string, what: string, names: string): void {
  notes.add("unchecked", id, `does not check ${what}`, `operations do not check ${what}`, names);
}

/** Why a parameter is not checked, as the kind that it belongs to. */
function kindOf({ in: where, node }: Parameter): string {
  if (where === "cookie") return "cookies";
  return isUnread({ node }) ? "parameters in the style deepObject" : "parameters without a schema";
}

function noteUncheckedIn(document: ApiDocument, { operation, parameters, body }: Accepted): void {
  const { id } = operation;
  const others = operation.parameters.filter((one) => !parameters.includes(one) && !isOwnHeader(one));
  for (const kind of new Set(others.map(kindOf))) {
    const names = others.filter((one) => kindOf(one) === kind).map(({ name }) => name);
    noteUnchecked(document, id, kind, names.join(", "));
  }
  const types = body?.content.others ?? [];
  if (types.length > 0) noteUnchecked(document, id, "a body that is not JSON", types.join(", "));
}

function readInput(
  accepted: Accepted,
  asked: EndpointInput,
  sent: RequestContent,
): EndpointInput | OwnRejection {
  const values = parameterValues(accepted, sent, asked);
  const wrong = wrongIn(accepted, accepted.checkParameters, values);
  if (wrong !== undefined) return wrong;
  const prefer = preferenceIn(sent.headers, accepted.operation);
  const query = values.query as EndpointInput["query"];
  const input = { ...asked, query, idempotencyKey: sent.idempotencyKey, ...(prefer && { prefer }) };
  return accepted.body === undefined ? input : readBody(accepted, accepted.body, input, sent);
}

/** The values of the parameters, as texts, by their place. */
function parameterValues(
  { parameters, reader }: Accepted,
  { query, headers }: RequestContent,
  { params }: EndpointInput,
) {
  const parts = { query, headers, params };
  const inQuery = new URLSearchParams(query);
  const values = new Map<string, [string, unknown][]>(places.map((where) => [where, []]));
  for (const parameter of parameters) {
    const isEmpty = allowsEmpty(parameter) && inQuery.get(parameter.name) === "";
    const value = isEmpty ? "" : valueSent(parameter, reader.whole(parameter.node.schema), parts);
    if (value !== undefined) values.get(parameter.in)?.push([parameter.name, value]);
  }
  return Object.fromEntries([...values].map(([where, all]) => [where, Object.fromEntries(all)]));
}

function wrongIn(
  { rejections: { rejection, mismatched } }: Accepted,
  check: Check,
  value: unknown,
  within?: string,
): OwnRejection | undefined {
  const mismatch = check(value);
  if (mismatch === undefined) return undefined;
  const { field, message } = problemOf(mismatch, within);
  return rejection(mismatched, { fields: { [field]: message } });
}

function readBody(
  accepted: Accepted,
  { content, types, isRequired }: AcceptedBody,
  asked: EndpointInput,
  { contentType = "", body: sent }: RequestContent,
): EndpointInput | OwnRejection {
  const { reader, rejections } = accepted;
  const unread = (reason: string) => rejections.rejection(rejections.unreadable, { reason });
  if (sent.text === "" && sent.problem === undefined) return isRequired ? unread("it is missing") : asked;
  const type = mediaTypeOf(contentType);
  if (sent.problem !== undefined) return unread(sent.problem);
  if (!types.some((one) => accepts(one, type)))
    return unread(`it is not sent as ${types.slice(0, 5).join(" or ")}`);
  if (!isJson(type)) return asked;
  const value = parsedJson(sent.text);
  if (value === undefined) return unread("it is not JSON");
  const input = { ...asked, body: value };
  if (isTooDeep(value, maxBodyLevels)) return unread(`it is nested more than ${maxBodyLevels} levels deep`);
  return wrongIn(accepted, reader.checkOf(content.schema), value, "body") ?? input;
}

/** A request that passes the checks. */
function requestTo(
  { operation, document, parameters, reader, ofParameters, body }: Accepted,
  sampling: Sampling,
) {
  const sample = sampleOf(reader, ofParameters, sampling)?.value;
  const byPlace = (isMapping(sample) ? sample : {}) as Readonly<Record<string, Members | undefined>>;
  const sampled = (where: string, name: string) => {
    const parameter = parameters.find((each) => each.in === where && each.name === name);
    const example = parameter && givenValue(parameter, document, reader);
    return (
      example ??
      byPlace[where]?.[name] ??
      (parameter && sampleOf(reader, parameter.node.schema, sampling)?.value) ??
      1
    );
  };
  const textsIn = (where: string) =>
    parameters
      .filter((one) => one.in === where && (one.isRequired || where === "path"))
      .flatMap((one) => textsOf(one, sampled(where, one.name)));
  const encodedIn = (where: string) =>
    textsIn(where).map(([name, text]) => [name, encodeURIComponent(text) || "1"] as const);
  const inPath = new Map(encodedIn("path"));
  const filled = operation.path.replace(/\{([^{}]+)\}/g, (_, name) => inPath.get(name) ?? "1");
  const query = encodedIn("query").map(([name, text]) => `${encodeURIComponent(name)}=${text}`);
  const isJsonBody = body !== undefined && body.content.type !== "";
  const payload = body && {
    headers: { "Content-Type": isJsonBody ? body.content.type : String(body.types[0]) },
    body: isJsonBody ? JSON.stringify(body.example) : "a",
  };
  const headers = { ...Object.fromEntries(textsIn("header")), ...payload?.headers };
  return {
    path: query.length === 0 ? filled : `${filled}?${query.join("&")}`,
    ...payload,
    ...(Object.keys(headers).length > 0 && { headers }),
  };
}

/**
 * What a client prefers for one response: `Prefer: code=404`, or `Prefer: example=NAME`, as other mock servers have it.
 */
function preferenceIn(headers: readonly string[], operation: Operation): EndpointInput["prefer"] {
  const text = headerIn(headers, "prefer") ?? "";
  const [, code] = /(?:^|[,;])\s*code="?([1-5]\d\d)\b/.exec(text) ?? [];
  const [, example] = /(?:^|[,;])\s*example="?([\w.-]{1,100})/.exec(text) ?? [];
  const { responses, success } = operation;
  if (code !== undefined)
    return contentAt(responses, Number(code)) === undefined
      ? { note: `Prefer: code=${code} is not documented` }
      : { code: Number(code) };
  if (example === undefined) return undefined;
  const isKnown = success.examples.has(example);
  const note = `Prefer: example=${redactEncoded(example)}${isKnown ? "" : " is not documented"}`;
  return { example, note };
}

/** The first problem of a value: its place, and a clause; `undefined` for none. */
export function problemIn(check: Check, value: unknown) {
  const mismatch = check(value);
  return mismatch && problemOf(mismatch);
}

function problemOf({ path, missing, message }: Mismatch, within?: string) {
  const steps = [within ?? [], path, missing ?? []].flat();
  return { field: redactEncoded(steps.join(".")).slice(0, 200), message };
}

/** The value that a document has for a parameter: a valid example, or the first choice; `undefined` for none. */
function givenValue({ node }: Parameter, document: ApiDocument, reader: SchemaReader): unknown {
  const { examples = [], enum: choices = [], const: constant } = reader.whole(node.schema);
  const examplesOf = [...examplesIn(document, node).values(), ...[examples, constant, choices].flat()];
  const check = reader.checkOf(node.schema, { reads: true });
  return examplesOf.find((value) => value !== undefined && value !== null && check(value) === undefined);
}

/** The examples of an operation's parameters and body, each with its name and its check. */
export function* requestExamples(
  { node, place, parameters }: Operation,
  document: ApiDocument,
  { request: reader }: Schemas,
): Generator<readonly [name: string, value: unknown, check: Check]> {
  for (const parameter of parameters) {
    const check = reader.checkOf(parameter.node.schema, { reads: true });
    for (const [name, value] of examplesIn(document, parameter.node))
      yield [`${parameter.name} ${name}`, value, check];
  }
  const { node: body, path } = resolved(document, node.requestBody, [...place, "requestBody"]);
  const content = contentIn(document, reader, body, path);
  for (const [name, value] of content.examples) yield [`body ${name}`, value, reader.checkOf(content.schema)];
}

/** The parts of a request that its document has no value for: `{id}` of the path, and what no sample is valid for. */
export function inventedIn(operation: Operation, document: ApiDocument, { request: reader }: Schemas) {
  const { path, parameters } = operation;
  const isKnown = (one: Operation["parameters"][number]) => givenValue(one, document, reader) !== undefined;
  const inPath = parameterNames(path).filter(
    (name) => !parameters.some((one) => one.in === "path" && one.name === name && isKnown(one)),
  );
  const others = parameters.filter(
    (one) =>
      one.isRequired &&
      one.in !== "path" &&
      !isKnown(one) &&
      sampleOf(reader, one.node.schema, ofExamples) === undefined,
  );
  return [...inPath.map((name) => `{${name}}`), ...others.map(({ name }) => name)];
}

type Rejected = "400.bad_request" | "422.validation";

/** The rejections of invalid requests: the documented ones, or 400. */
export function rejectionsOf({ responses }: Operation) {
  const [has400, has422] = ["400", "422"].map((status) => responses.has(status));
  const unreadable: Rejected = has400 || !has422 ? "400.bad_request" : "422.validation";
  const mismatched: Rejected = has422 ? "422.validation" : "400.bad_request";
  const bodies = new Map<Content, OwnRejection["body"]>();
  const sampleIn = (documented: Content) =>
    keptIn(bodies, documented, () => {
      const sample = sampledBody(documented, ofExamples);
      return sample && { ...jsonBody(sample.value), type: documented.type };
    });
  const rejection = (path: OwnRejectionPath, details?: Members): OwnRejection => {
    const { status, code } = outcomeOf(path);
    const { message } = outcomeOf(path === "400.bad_request" ? "422.validation" : path);
    const ours = errorBody(String(code), String(message), details);
    const rejected = { kind: "rejected", path, ...(details && { details, note: noteOf(details) }) } as const;
    const documented = responses.get(String(status));
    if (documented === undefined || documented.type === "") return { ...rejected, body: ours };
    const isOurs = documented.reader.checkOf(documented.schema)(parsedJson(ours.text)) === undefined;
    const typed = { ...ours, type: documented.type };
    return { ...rejected, body: isOurs ? typed : (sampleIn(documented) ?? typed) };
  };
  return { unreadable, mismatched, rejection };
}

/** The reason of a rejection, also if the documented body has no place for it. */
function noteOf({ reason, fields }: Members): string {
  if (typeof reason === "string") return `the body: ${reason}`;
  return Object.entries(isMapping(fields) ? fields : {})
    .map(([field, problem]) => `${field} ${String(problem)}`)
    .join("; ");
}

/** Whether a documented media type, such as `application/*`, is this one. */
function accepts(documented: string, type: string): boolean {
  const [kind, form] = mediaTypeOf(documented).split("/");
  const [givenKind, givenForm] = type.split("/");
  return (kind === "*" || kind === givenKind) && (form === "*" || form === givenForm);
}

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
const places = Object.keys(parameterPlaces);

/** What is between the items of a list in one text, by the style of the parameter. */
export const separators: Readonly<Record<string, string>> = {
  form: ",",
  simple: ",",
  spaceDelimited: " ",
  pipeDelimited: "|",
};
const isExploded = ({ in: where, node: { style = "form", explode = style === "form" } }: Parameter) =>
  where === "query" && explode === true;
const separatorOf = ({ node }: Parameter) =>
  (Object.hasOwn(separators, String(node.style)) ? separators[String(node.style)] : undefined) ?? ",";

/** The value of a parameter as texts; `undefined` for none. */
function valueSent(parameter: Parameter, { type, properties, oneOf, anyOf }: Members, sent: Sent): unknown {
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
function textsOf(parameter: Parameter, value: unknown): [name: string, text: string][] {
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
