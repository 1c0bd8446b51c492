import { type EndpointInput, jsonRequest, type OwnRefusal } from "../api/endpoint.js";
import { errorBody, jsonBody } from "../api/messages.js";
import { outcomeOf } from "../spec/outcomes.js";
import { redactKeys } from "../spec/redact.js";
import type { RequestContent } from "../spec/request.js";
import { isTooDeep, parsedJson } from "../spec/schema/json.js";
import type { Members } from "../spec/schema/messages.js";
import { anything, isMapping } from "../spec/schema/shape.js";
import { type Content, contentIn, isJsonType, lazily, mediaTypeOf, sampledBody } from "./contents.js";
import { type ApiDocument, ajvMessage, resolved, stepsOf } from "./document.js";
import type { Operation } from "./operations.js";
import { type Check, expanded, type Schemas, sampleOf, shapeOfSchema } from "./schemas.js";

/** The checks of an operation's input, and a request that passes them. */
export function inputOf(operation: Operation, document: ApiDocument, schemas: Schemas) {
  const { at, place, path } = operation;
  // Header and cookie parameters are left to the handlers of the user.
  const checked = operation.parameters.filter(({ in: where, at: one }) => {
    return /^(?:query|path)$/.test(where) && isMapping(one.schema) && one.style !== "deepObject";
  });
  const inPlace = (where: string) => {
    const here = checked.filter((one) => one.in === where);
    const properties = Object.fromEntries(here.map(({ name, at: one }) => [name, one.schema]));
    return {
      type: "object",
      properties,
      required: here.filter((one) => one.isRequired).map(({ name }) => name),
    };
  };
  const node = { type: "object", properties: { path: inPlace("path"), query: inPlace("query") } };
  const ofParameters = schemas.schemaAt(node, "request", [...place, "parameters"]);
  const { properties } = expanded(ofParameters) as { properties: { query: { properties: Members } } };
  const shapes = properties.query.properties;
  const { at: body, path: bodyPlace } = resolved(document, at.requestBody, [...place, "requestBody"]);
  const types = Object.keys(isMapping(body.content) ? body.content : {});
  const content = types.length === 0 ? undefined : contentIn(document, schemas, body, bodyPlace, "request");
  const { unreadable, mismatched, refusal } = refusalsOf(operation, schemas);

  const wrong = (check: Check, value: unknown, within?: string): OwnRefusal | undefined => {
    const error = check(value);
    if (error === undefined) return undefined;
    const { missingProperty: missing } = error.params as Members;
    const steps = [within ?? [], stepsOf(error.instancePath), missing ?? []].flat();
    const field = redactKeys(steps.join(".")).slice(0, 200);
    return refusal(mismatched, {
      fields: { [field]: missing === undefined ? ajvMessage(error) : "is missing" },
    });
  };

  const readParameters = (asked: EndpointInput, query: string) => {
    const given = new URLSearchParams(query);
    const inQuery = checked.filter(({ in: where, name }) => where === "query" && given.has(name));
    const values = inQuery.map(({ name, at: { explode } }) => {
      const all = given.getAll(name);
      const isList = isMapping(shapes[name]) && shapes[name].type === "array";
      return [name, !isList ? all[0] : explode === false ? all.flatMap((one) => one.split(",")) : all];
    });
    const names = path.split("/").flatMap((step) => (step.startsWith("{") ? step.slice(1, -1) : []));
    const inPath = names.map((name) => [name, decoded(asked.params[name] ?? "")]);
    const value = { path: Object.fromEntries(inPath), query: Object.fromEntries(values) };
    return wrong(schemas.checkOf(ofParameters, true), value);
  };

  const readBody = (
    of: Content,
    { contentType = "", body: sent }: RequestContent,
  ): OwnRefusal | undefined => {
    const unread = (reason: string) => refusal(unreadable, { reason });
    if (sent.problem !== undefined) return unread(sent.problem);
    if (sent.text === "") return body.required === true ? unread("it is missing") : undefined;
    const type = mediaTypeOf(contentType);
    if (!types.some((one) => accepts(one, type))) {
      return unread(`it is not sent as ${types.slice(0, 5).join(" or ")}`);
    }
    if (!isJsonType(type)) return undefined;
    const value = parsedJson(sent.text);
    if (value === undefined || isTooDeep(value)) return unread("it is not JSON, or nested too deep");
    return of.isJson && of.schema ? wrong(schemas.checkOf(of.schema()), value, "body") : undefined;
  };

  const read = (asked: EndpointInput, sent: RequestContent): EndpointInput | OwnRefusal =>
    readParameters(asked, sent.query) ?? (content && readBody(content, sent)) ?? asked;

  const example = lazily(() => content && sampledBody(schemas, content, 1)?.value);
  /** A request that passes the checks. */
  const ask = (seed: number) => {
    const sample = sampleOf(ofParameters, schemas.checkOf(ofParameters), seed)?.value;
    const made = (isMapping(sample) ? sample : {}) as Readonly<Record<string, Members | undefined>>;
    const sampled = (where: string, name: string) =>
      checked.find((one) => one.in === where && one.name === name)?.at.example ?? made[where]?.[name] ?? 1;
    const encoded = (value: unknown) =>
      encodeURIComponent(typeof value === "object" ? JSON.stringify(value) : String(value)) || "1";
    const filled = path.replace(/\{([^{}]+)\}/g, (_, name) => encoded(sampled("path", name)));
    const needed = checked.filter(({ in: where, isRequired }) => where === "query" && isRequired);
    const pairs = needed.flatMap(({ name }) =>
      [sampled("query", name)].flat().map((one) => `${encodeURIComponent(name)}=${encoded(one)}`),
    );
    const json = content?.isJson === true && jsonRequest(example(), { "Content-Type": content.type });
    return { path: pairs.length === 0 ? filled : `${filled}?${pairs.join("&")}`, ...json };
  };

  const ofQuery = checked
    .filter((one) => one.in === "query")
    .map(({ name }) => [name, shapeOfSchema(shapes[name])]);
  const input = {
    ...(ofQuery.length > 0 && { query: Object.fromEntries(ofQuery) }),
    ...(content !== undefined && {
      body: {
        shape: content.schema === undefined ? anything() : shapeOfSchema(expanded(content.schema())),
        get example() {
          return example();
        },
      },
    }),
    read,
  };
  const takesInput = checked.length > 0 || content !== undefined;
  return { input, ask, refusals: takesInput ? [...new Set([unreadable, mismatched])] : [] };
}

type Refused = "400.bad_request" | "422.validation";

/** The rejections of invalid requests: the documented ones, or 400. */
function refusalsOf({ responses }: Operation, schemas: Schemas) {
  const [has400, has422] = ["400", "422"].map((status) => responses.has(status));
  const unreadable: Refused = has400 || !has422 ? "400.bad_request" : "422.validation";
  const mismatched: Refused = has422 ? "422.validation" : "400.bad_request";
  const refusal = (refused: Refused, details: Members): OwnRefusal => {
    const { status, code } = outcomeOf(refused);
    const { message } = outcomeOf("422.validation");
    const ours = errorBody(String(code), String(message), details);
    const documented = responses.get(String(status));
    if (documented?.schema === undefined || !documented.isJson) return { refused, details, body: ours };
    const isOurs = schemas.checkOf(documented.schema())(parsedJson(ours.text)) === undefined;
    const own = isOurs ? undefined : sampledBody(schemas, documented, 1);
    return { refused, details, body: own === undefined ? ours : jsonBody(own.value) };
  };
  return { unreadable, mismatched, refusal };
}

/** Whether a documented media type, such as `application/*`, is this one. */
function accepts(documented: string, type: string): boolean {
  const [kind, form] = mediaTypeOf(documented).split("/");
  const [givenKind, givenForm] = type.split("/");
  return (kind === "*" || kind === givenKind) && (form === "*" || form === givenForm);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
