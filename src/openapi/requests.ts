import { errorBody, isJson, jsonBody } from "../api/messages.js";
import { outcomeOf } from "../rules/outcomes.js";
import { redactEncoded } from "../rules/redact.js";
import { headerIn, type RequestContent } from "../rules/request.js";
import { isTooDeep, parsedJson } from "../rules/schema/json.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping, type Path, pathText } from "../rules/schema/shape.js";
import type { Endpoint, EndpointInput, KeylessRequest, OwnRejection, TextBody } from "../sandbox/endpoint.js";
import { decoded, type Notes, resolved } from "./document.js";
import { type Operation, type Parameter, parameterNames, responseAt, unchecked } from "./operations.js";
import {
  bodyFor,
  type Content,
  contentIn,
  examplesIn,
  mediaTypeOf,
  noteExamples,
  type SchemasByUse,
  sampleOf,
} from "./samples.js";
import type { Check, Mismatch, Schemas } from "./schemas.js";

// The input of an operation: its parameters, its JSON body, what a client prefers, and the documented rejection.

/** The levels of a body that is checked. */
const maxBodyLevels = 16;

/** A parameter that is checked. */
interface ReadParameter extends Parameter {
  readonly check: Check;
  readonly path: Path;
}

interface ReadBody {
  readonly content: Content;
  readonly types: readonly string[];
  readonly isRequired: boolean;
}

interface Accepted {
  readonly operation: Operation;
  readonly schemas: SchemasByUse;
  readonly parameters: readonly ReadParameter[];
  readonly body: ReadBody | undefined;
}

const places = ["path", "query", "header"];
/** The headers that the sandbox reads itself. */
const ownHeaders = ["accept", "authorization", "content-type", "x-api-key"];
const isOwnHeader = (one: Parameter) => one.in === "header" && ownHeaders.includes(one.name.toLowerCase());

/** The checks of an operation's input, and a request that passes them. */
export interface OperationInput extends Pick<Endpoint, "rejections"> {
  readonly input: NonNullable<Endpoint["input"]>;
  readonly example: () => KeylessRequest;
  readonly note: (notes: Notes) => void;
}

export function inputOf(operation: Operation, schemas: SchemasByUse): OperationInput {
  const accepted = acceptedBy(operation, schemas);
  const { parameters, body } = accepted;
  const ends = [
    ...(body ? [statusOf(operation, "400.bad_request")] : []),
    statusOf(operation, "422.validation"),
  ];
  return {
    ...((parameters.length > 0 || body !== undefined) && { rejections: [...new Set(ends)] }),
    input: {
      hasQuery: parameters.some((one) => one.in === "query"),
      hasBody: body !== undefined,
      read: (asked, sent) => readInput(accepted, asked, sent),
    },
    example: () => requestTo(accepted),
    note: (notes: Notes) => noteInput(notes, accepted),
  };
}

function acceptedBy(operation: Operation, schemas: SchemasByUse): Accepted {
  const { request } = schemas;
  const { node, place } = operation;
  const parameters = operation.parameters
    .filter(
      (one) => places.includes(one.in) && !isOwnHeader(one) && isMapping(one.node.schema) && !isUnread(one),
    )
    .map((one) => {
      const path = [...one.place, "schema"];
      return { ...one, path, check: request.checkOf(one.node.schema, path) };
    });
  const { node: body, path } = resolved(request.document, node.requestBody, [...place, "requestBody"]);
  const types = Object.keys(isMapping(body.content) ? body.content : {});
  const content = types.length === 0 ? undefined : contentIn(request, body, path);
  return {
    operation,
    schemas,
    parameters,
    body: content && { content, types, isRequired: body.required === true },
  };
}

const isUnread = ({ node }: Pick<Parameter, "node">) => node.style === "deepObject";

/** Why a parameter is not checked, as the kind that it belongs to. */
function kindOf({ in: where, node }: Parameter): string {
  if (where === "cookie") return "cookies";
  return isUnread({ node }) ? "parameters in the style deepObject" : "parameters without a schema";
}

function noteInput(notes: Notes, { operation, parameters, body, schemas }: Accepted): void {
  const { id } = operation;
  const others = operation.parameters.filter(
    (one) => !parameters.some(({ place }) => place === one.place) && !isOwnHeader(one),
  );
  const note = (what: string, names: readonly string[]) =>
    notes.add("unchecked", id, unchecked, what, names.join(", "));
  for (const kind of new Set(others.map(kindOf)))
    note(
      kind,
      others.filter((one) => kindOf(one) === kind).map(({ name }) => name),
    );
  const types = body?.content.others ?? [];
  if (types.length > 0) note("a body that is not JSON", types);
  for (const { name, node, check, path } of parameters) {
    schemas.request.converted(node.schema, path);
    noteExamples(notes, `${id} ${name}`, examplesIn(schemas.request.document, node), check);
  }
  if (body === undefined) return;
  schemas.request.converted(body.content.schema, body.content.path);
  noteExamples(notes, `${id} body`, body.content.examples, body.content.check);
}

function readInput(
  accepted: Accepted,
  asked: EndpointInput,
  sent: RequestContent,
): EndpointInput | OwnRejection {
  const { operation, parameters, schemas } = accepted;
  for (const parameter of parameters) {
    const mismatch = mismatchIn(schemas.request, parameter, { ...sent, params: asked.params });
    if (mismatch !== undefined) return mismatched(accepted, [parameter.in, parameter.name], mismatch);
  }
  const prefer = preferenceIn(sent.headers, operation);
  const input = { ...asked, ...(prefer && { prefer }) };
  return accepted.body === undefined ? input : readBody(accepted, accepted.body, input, sent);
}

function mismatched(accepted: Accepted, at: Path, { path, message }: Mismatch): OwnRejection {
  const place = redactEncoded(pathText([...at, ...path])).slice(0, 200);
  return rejectionOf(accepted, "422.validation", { fields: { [place]: message } }, `${place} ${message}`);
}

function readBody(
  accepted: Accepted,
  { content, types, isRequired }: ReadBody,
  asked: EndpointInput,
  { contentType = "", body: sent }: RequestContent,
): EndpointInput | OwnRejection {
  const unread = (reason: string) =>
    rejectionOf(accepted, "400.bad_request", { reason }, `the body: ${reason}`);
  if (sent.text === "" && sent.problem === undefined) return isRequired ? unread("it is missing") : asked;
  const type = mediaTypeOf(contentType);
  if (sent.problem !== undefined) return unread(sent.problem);
  if (!types.some((one) => accepts(one, type)))
    return unread(`it is not sent as ${types.slice(0, 5).join(" or ")}`);
  if (!isJson(type)) return asked;
  const value = parsedJson(sent.text);
  if (value === undefined) return unread("it is not JSON");
  if (isTooDeep(value, maxBodyLevels)) return unread(`it is nested more than ${maxBodyLevels} levels deep`);
  const mismatch = content.check(value);
  if (mismatch !== undefined) return mismatched(accepted, ["body"], mismatch);
  const isChecked = !accepted.schemas.request.gaveUp;
  return isChecked
    ? asked
    : { ...asked, note: "the body was not checked: its schema has too many alternatives" };
}

/** Whether a documented media type, such as `application/*`, is this one. */
function accepts(documented: string, type: string): boolean {
  const [kind, form] = mediaTypeOf(documented).split("/");
  const [givenKind, givenForm] = type.split("/");
  return (kind === "*" || kind === givenKind) && (form === "*" || form === givenForm);
}

type RejectedPath = OwnRejection["path"];

/** How an invalid request ends: on 400 or 422, whichever is documented. */
function statusOf({ responses }: Operation, usual: RejectedPath): RejectedPath {
  const paths: readonly RejectedPath[] = [usual, "400.bad_request", "422.validation"];
  return paths.find((path) => responses.has(String(outcomeOf(path).status))) ?? "400.bad_request";
}

/** The documented rejection of an invalid request: 400 or 422, `4XX` or `default`; 400 if none is documented. */
function rejectionOf(
  { operation, schemas }: Accepted,
  usual: RejectedPath,
  details: Members,
  note: string,
): OwnRejection {
  const path = statusOf(operation, usual);
  const { status, code } = outcomeOf(path);
  const message = String(outcomeOf(usual).message);
  const ours = errorBody(String(code), message, details);
  const rejected: OwnRejection = { kind: "rejected", path, details, note, body: ours };
  const content = responseAt(operation.responses, status)?.content;
  if (content === undefined || content.type === "") return rejected;
  const { type, check } = content;
  if (check(parsedJson(ours.text)) === undefined) return { ...rejected, body: { ...ours, type } };
  const body = bodyFor(schemas, content, "response");
  const text: TextBody = body === undefined ? ours : jsonBody(body.value);
  return { ...rejected, body: { ...text, type } };
}

/**
 * What a client prefers for one response: `Prefer: code=404`, or `Prefer: example=NAME`, as other mock servers have it.
 */
function preferenceIn(
  headers: readonly string[],
  { responses, success }: Operation,
): EndpointInput["prefer"] {
  const text = headerIn(headers, "prefer") ?? "";
  const [, code] = /(?:^|[,;])\s*code="?([1-5]\d\d)\b/.exec(text) ?? [];
  const [, example] = /(?:^|[,;])\s*example="?([\w.-]{1,100})/.exec(text) ?? [];
  if (code !== undefined)
    return responseAt(responses, Number(code)) === undefined
      ? { note: `Prefer: code=${code} is not documented` }
      : { code: Number(code) };
  if (example === undefined) return undefined;
  const isKnown = success.content.examples.has(example);
  const note = `Prefer: example=${redactEncoded(example)}${isKnown ? "" : " is not documented"}`;
  return { example, note };
}

// The values of parameters in a request's texts, and the reverse.

type Sent = Pick<RequestContent, "headers" | "query"> & Pick<EndpointInput, "params">;

const plainQuery = (text: string) => new URLSearchParams(`=${text}`).get("") ?? "";

/** The texts of a parameter, as they are sent. */
function textsSent({ query, headers, params }: Sent, where: string, name: string): readonly string[] {
  if (where === "path") return [params[name] ?? ""];
  if (where === "header") return [headerIn(headers, name.toLowerCase()) ?? []].flat();
  return query.split("&").flatMap((pair) => {
    const [, own = "", text = ""] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
    return pair !== "" && plainQuery(own) === name ? [text] : [];
  });
}

const decoders: Readonly<Record<string, (text: string) => string>> = { path: decoded, query: plainQuery };
const separators: Readonly<Record<string, string>> = { spaceDelimited: " ", pipeDelimited: "|" };
const separatorOf = ({ node }: Parameter) => separators[String(node.style)] ?? ",";
const isExploded = ({ in: where, node: { style = "form", explode = style === "form" } }: Parameter) =>
  where === "query" && explode === true;

/** The first mismatch of a parameter; `undefined` also if it is left out and may be. */
function mismatchIn(schemas: Schemas, parameter: ReadParameter, sent: Sent): Mismatch | undefined {
  const { name, in: where, isRequired, node, path, check } = parameter;
  const decode = decoders[where] ?? ((text: string) => text);
  const schema = schemas.converted(node.schema, path);
  const { types, properties, items } = formOf(schemas, schema);
  if (types.has("object") && where === "query" && properties.size > 0) {
    const members = [...properties].flatMap(([member, inside]) => {
      const [text] = textsSent(sent, where, member);
      return text === undefined ? [] : [[member, readingOf(schemas, inside, decode(text))] as const];
    });
    if (members.length === 0) return isRequired ? { path: [], message: "is missing" } : undefined;
    return check(Object.fromEntries(members));
  }
  const texts = textsSent(sent, where, name);
  const [first] = texts;
  if (first === undefined) return isRequired ? { path: [], message: "is missing" } : undefined;
  if (where === "query" && node.allowEmptyValue === true && first === "") return undefined;
  if (!types.has("array")) return check(readingOf(schemas, schema, decode(first)));
  const inList = isExploded(parameter)
    ? texts.map(decode)
    : texts.flatMap((text) => itemsIn(text, separatorOf(parameter), decode));
  const mismatch = check(inList.map((text) => readingOf(schemas, items, text)));
  // A parameter may be one value or a list of them.
  return mismatch && types.size > 1 && check(readingOf(schemas, schema, decode(first))) === undefined
    ? undefined
    : mismatch;
}

/** The items of a list. An encoded separator belongs to an item, unless all are encoded, as some clients do. */
function itemsIn(text: string, separator: string, decode: (text: string) => string): string[] {
  const items = text.includes(separator) ? text.split(separator).map(decode) : decode(text).split(separator);
  return items.map((item) => item.trim());
}

interface Form {
  readonly types: Set<string>;
  readonly properties: Map<string, unknown>;
  items?: unknown;
}

/** The types that a schema allows, with its references and the parts of it. */
function formOf(
  schemas: Schemas,
  node: unknown,
  form: Form = { types: new Set(), properties: new Map() },
  level = 0,
): Form {
  const { type, items, properties = {}, allOf = [], anyOf = [], oneOf = [] } = schemas.target(node);
  for (const name of [type ?? []].flat()) form.types.add(String(name));
  for (const [name, member] of Object.entries(properties as Members)) {
    form.types.add("object");
    form.properties.set(name, member);
  }
  form.items ??= items;
  if (level < 5) for (const part of [allOf, anyOf, oneOf].flat()) formOf(schemas, part, form, level + 1);
  return form;
}

/** The reading of a text that is valid for a schema: a number, a boolean, JSON, or the text. */
function readingOf(schemas: Schemas, schema: unknown, text: string): unknown {
  const readings: unknown[] = [text];
  if (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) readings.unshift(Number(text));
  if (/^(?:true|false)$/.test(text)) readings.unshift(text === "true");
  if (text === "") readings.push(null);
  const json = /^[{[]/.test(text) ? parsedJson(text) : undefined;
  if (json !== undefined && !isTooDeep(json, maxBodyLevels)) readings.unshift(json);
  return readings.find((one) => schemas.checkConverted(schema ?? true, one) === undefined) ?? readings[0];
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

/** A request that passes the checks: of examples and samples. */
function requestTo({ operation, schemas, parameters, body }: Accepted): KeylessRequest {
  const valueIn = ({ node, path, check }: ReadParameter) => {
    const examples = [...examplesIn(schemas.request.document, node).values()];
    const example = examples.find((value) => check(value) === undefined);
    return example ?? sampleOf(schemas, { schema: node.schema, path, check }, "request")?.value ?? 1;
  };
  const textsIn = (where: string) =>
    parameters
      .filter((one) => one.in === where && one.isRequired)
      .flatMap((one) => textsOf(one, valueIn(one)));
  const encodedIn = (where: string) =>
    textsIn(where).map(([name, text]) => [name, encodeURIComponent(text) || "1"] as const);
  const inPath = new Map(encodedIn("path"));
  const filled = parameterNames(operation.path).reduce(
    (path, name) => path.replace(`{${name}}`, () => inPath.get(name) ?? "1"),
    operation.path,
  );
  const query = encodedIn("query").map(([name, text]) => `${encodeURIComponent(name)}=${text}`);
  const isJsonBody = body !== undefined && body.content.type !== "";
  const headers = {
    ...Object.fromEntries(textsIn("header")),
    ...(body && { "Content-Type": isJsonBody ? body.content.type : String(body.types[0]) }),
  };
  const text = isJsonBody ? JSON.stringify(bodyFor(schemas, body.content, "request")?.value) : "a";
  return {
    path: query.length === 0 ? filled : `${filled}?${query.join("&")}`,
    ...(body && text !== undefined && { body: text }),
    ...(Object.keys(headers).length > 0 && { headers }),
  };
}
