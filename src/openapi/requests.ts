import { type EndpointInput, jsonRequest, type OwnRefusal, type OwnRefusalPath } from "../api/endpoint.js";
import { errorBody, jsonBody, type TextBody } from "../api/messages.js";
import { outcomeOf } from "../spec/outcomes.js";
import { redactKeys } from "../spec/redact.js";
import type { RequestContent } from "../spec/request.js";
import { isTooDeep, parsedJson } from "../spec/schema/json.js";
import type { Members } from "../spec/schema/messages.js";
import { isMapping } from "../spec/schema/shape.js";
import { quote } from "../spec/schema/words.js";
import { type Content, contentIn, isJsonType, lazily, mediaTypeOf, sampledBody } from "./contents.js";
import { type ApiDocument, resolved } from "./document.js";
import { type Mismatch, tooMuchWork } from "./keywords.js";
import type { Operation } from "./operations.js";
import { ofExamples, type Sampling, sampleOf } from "./sampler.js";
import { type Schemas, whole } from "./schemas.js";
import { shapeOfSchema } from "./shapes.js";
import type { Check } from "./validator.js";

/** The checks of an operation's input, and a request that passes them. */
export function inputOf(operation: Operation, document: ApiDocument, { request: reader }: Schemas) {
  const { at, place, path } = operation;
  // The journal keeps no other headers, so header and cookie parameters are left to the user's handlers.
  const checked = operation.parameters.filter(
    ({ in: where, at: one }) => /^(?:query|path)$/.test(where) && isMapping(one.schema),
  );
  const checkedIn = (where: string) => checked.filter((one) => one.in === where);
  const inQuery = checkedIn("query");
  const inPlace = (where: string) => {
    const here = checkedIn(where);
    const properties = Object.fromEntries(here.map(({ name, at: one }) => [name, one.schema]));
    return {
      type: "object",
      properties,
      required: here.filter((one) => one.isRequired).map(({ name }) => name),
    };
  };
  const ofParameters = { type: "object", properties: { path: inPlace("path"), query: inPlace("query") } };
  for (const one of checked) reader.survey(one.at.schema, [...one.place, "schema"]);
  const { at: body, path: bodyPlace } = resolved(document, at.requestBody, [...place, "requestBody"]);
  const types = Object.keys(isMapping(body.content) ? body.content : {});
  const content = types.length === 0 ? undefined : contentIn(document, reader, body, bodyPlace);
  const { unreadable, mismatched, refusal } = refusalsOf(operation);

  const wrong = (check: Check, value: unknown, within?: string): OwnRefusal | undefined => {
    const found = check(value);
    if (found === undefined) return undefined;
    if (found === tooMuchWork) return refusal(unreadable, { reason: `it ${found.message}` });
    const { field, message } = problemOf(found, within);
    return refusal(mismatched, { fields: { [field]: message } });
  };

  const checkParameters = reader.checkOf(ofParameters, { reads: true });
  const readParameters = (
    asked: EndpointInput,
    query: string,
    isChecked: boolean,
  ): EndpointInput | OwnRefusal => {
    const given = new URLSearchParams(query);
    const values = inQuery.flatMap((one) => {
      const value = valueIn(given, one, whole(reader, one.at.schema));
      return value === undefined ? [] : [[one.name, value]];
    });
    const names = path.split("/").flatMap((step) => (step.startsWith("{") ? step.slice(1, -1) : []));
    const inPath = names.map((name) => [name, decoded(asked.params[name] ?? "")]);
    const value = { path: Object.fromEntries(inPath), query: Object.fromEntries(values) };
    const read = { ...asked, query: value.query as EndpointInput["query"] };
    return isChecked ? read : (wrong(checkParameters, value) ?? read);
  };

  const whyOther = (type: string) => {
    const isDocumented = types.some((one) => accepts(one, type));
    return isDocumented ? undefined : `it is not sent as ${types.slice(0, 5).join(" or ")}`;
  };
  const readBody = (
    of: Content,
    asked: EndpointInput,
    { contentType = "", body: sent }: RequestContent,
    isChecked: boolean,
  ): EndpointInput | OwnRefusal => {
    const unread = (reason: string) => refusal(unreadable, { reason });
    if (sent.text === "" && sent.problem === undefined)
      return body.required === true ? unread("it is missing") : asked;
    const type = mediaTypeOf(contentType);
    const why = sent.problem ?? whyOther(type);
    if (why !== undefined) return unread(why);
    const isForm = type === formType && mediaTypeOf(of.type) === formType;
    return isForm || isJsonType(type) ? readValue(of, asked, sent.text, isForm, isChecked) : asked;
  };
  const readValue = (
    of: Content,
    asked: EndpointInput,
    sent: string,
    isForm: boolean,
    isChecked: boolean,
  ): EndpointInput | OwnRefusal => {
    const value = isForm ? formIn(sent) : parsedJson(sent);
    if (value === undefined) return refusal(unreadable, { reason: "it is not JSON" });
    const read = { ...asked, body: value };
    if (isChecked) return read;
    const levels = Math.max(usualLevels, reader.levelsOf(of.schema));
    if (isTooDeep(value, levels))
      return refusal(unreadable, { reason: `it is nested more than ${levels} levels deep` });
    const isDescribed = isForm || of.isJson;
    const check = reader.checkOf(of.schema, { reads: isForm });
    return (isDescribed ? wrong(check, value, "body") : undefined) ?? read;
  };

  const read = (
    asked: EndpointInput,
    sent: RequestContent,
    isChecked: boolean,
  ): EndpointInput | OwnRefusal => {
    const found = readParameters({ ...asked, idempotencyKey: sent.idempotencyKey }, sent.query, isChecked);
    return "refused" in found || content === undefined ? found : readBody(content, found, sent, isChecked);
  };

  const example = lazily(() => content && sampledBody(content, ofExamples)?.value);
  /** A request that passes the checks. */
  const ask = (sampling: Sampling) => {
    const sample = sampleOf(reader, ofParameters, sampling)?.value;
    const made = (isMapping(sample) ? sample : {}) as Readonly<Record<string, Members | undefined>>;
    const sampled = (where: string, name: string) =>
      checked.find((one) => one.in === where && one.name === name)?.at.example ?? made[where]?.[name] ?? 1;
    const encoded = (value: unknown) =>
      encodeURIComponent(typeof value === "object" ? JSON.stringify(value) : String(value)) || "1";
    const filled = path.replace(/\{([^{}]+)\}/g, (_, name) => encoded(sampled("path", name)));
    const needed = inQuery.filter(({ isRequired }) => isRequired);
    const pairs = needed.flatMap((one): [string, unknown][] => {
      const value = sampled("query", one.name);
      return isMapping(value)
        ? Object.entries(value).map(([member, inner]) => [memberName(one, member), inner])
        : [value].flat().map((inner) => [one.name, inner]);
    });
    const query = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encoded(value)}`).join("&");
    return {
      path: query === "" ? filled : `${filled}?${query}`,
      ...(content && sentAs(content, example())),
    };
  };

  const ofQuery = lazily(() =>
    Object.fromEntries(inQuery.map(({ name, at: one }) => [name, shapeOfSchema(reader, one.schema)])),
  );
  const shape = lazily(() => shapeOfSchema(reader, content?.schema));
  const input = {
    ...(inQuery.length > 0 && {
      get query() {
        return ofQuery();
      },
    }),
    ...(content !== undefined && {
      body: {
        get shape() {
          return shape();
        },
        get example() {
          return example();
        },
      },
    }),
    read,
  };
  const takesInput = checked.length > 0 || content !== undefined;
  const isOurs = /^(?:accept|authorization|content-type|idempotency-key|x-api-key)$/i;
  const others = operation.parameters.filter((one) => !checked.includes(one) && !isOurs.test(one.name));
  const isReadable =
    types.length === 0 ||
    types.some((one) => isJsonType(one) || one.includes("*")) ||
    content?.type === formType;
  const unchecked = [
    ...others.map(({ in: where, name }) => `the ${where} parameter ${quote(name.slice(0, 60))}`),
    ...(isReadable ? [] : [`the body as ${types.slice(0, 3).join(" or ")}`]),
  ];
  return { input, ask, unchecked, refusals: takesInput ? [...new Set([unreadable, mismatched])] : [] };
}

/** The first problem of a value: its place, and a clause; `undefined` for none. */
export function problemIn(check: Check, value: unknown) {
  const found = check(value);
  return found && problemOf(found);
}

function problemOf({ path, missing, message }: Mismatch, within?: string) {
  const steps = [within ?? [], path, missing ?? []].flat();
  return { field: redactKeys(steps.join(".")).slice(0, 200), message };
}

/** The most levels of a body, unless the document needs more. */
const usualLevels = 16;

const formType = "application/x-www-form-urlencoded";

const separators: Readonly<Record<string, string>> = { spaceDelimited: " ", pipeDelimited: "|" };

interface Parameter {
  readonly name: string;
  readonly at: Members;
}

/** The name of a member of an object in a query. */
const memberName = ({ name, at }: Parameter, member: string) =>
  at.style === "deepObject" ? `${name}[${member}]` : member;

/** The value of a parameter in a query, as texts; `undefined` for none. */
function valueIn(given: URLSearchParams, parameter: Parameter, schema: Members): unknown {
  const { name, at } = parameter;
  const { type, properties } = schema;
  if (type === "object") {
    const members = Object.keys(isMapping(properties) ? properties : {})
      .map((member) => [member, given.get(memberName(parameter, member))] as const)
      .filter(([, value]) => value !== null);
    return members.length === 0 ? undefined : Object.fromEntries(members);
  }
  const all = given.getAll(name);
  if (type !== "array" || all.length === 0) return all[0];
  const { style = "form", explode = style === "form" } = at;
  return explode === true ? all : all.flatMap((one) => one.split(separators[String(style)] ?? ","));
}

/** The members of a form; a repeated one is a list. */
function formIn(text: string): Members {
  const given = new URLSearchParams(text);
  const members = [...given.keys()].map((name) => {
    const [first, ...more] = given.getAll(name);
    return [name, more.length === 0 ? first : [first, ...more]] as const;
  });
  return Object.fromEntries(members);
}

/** A body in its media type. */
function sentAs({ type, isJson }: Content, body: unknown) {
  const headers = { "Content-Type": type };
  if (isJson) return jsonRequest(body, headers);
  const isForm = mediaTypeOf(type) === formType && isMapping(body);
  return { headers, body: isForm ? String(new URLSearchParams(body as Record<string, string>)) : "a" };
}

type Refused = "400.bad_request" | "422.validation";

/** The rejections of invalid requests: the documented ones, or 400. */
export function refusalsOf({ responses }: Operation) {
  const [has400, has422] = ["400", "422"].map((status) => responses.has(status));
  const unreadable: Refused = has400 || !has422 ? "400.bad_request" : "422.validation";
  const mismatched: Refused = has422 ? "422.validation" : "400.bad_request";
  const bodies = new Map<Content, TextBody | undefined>();
  const sampleIn = (documented: Content): TextBody | undefined => {
    if (!bodies.has(documented)) {
      const sample = documented.isJson ? sampledBody(documented, ofExamples) : undefined;
      bodies.set(documented, sample && jsonBody(sample.value));
    }
    return bodies.get(documented);
  };
  const refusal = (refused: OwnRefusalPath, details?: Members): OwnRefusal => {
    const { status, code } = outcomeOf(refused);
    const { message } = outcomeOf(refused === "400.bad_request" ? "422.validation" : refused);
    const ours = errorBody(String(code), String(message), details);
    const shown = details && { details };
    const documented = responses.get(String(status));
    if (documented?.schema === undefined) return { refused, ...shown, body: ours };
    const isOurs = documented.reader.checkOf(documented.schema)(parsedJson(ours.text)) === undefined;
    return { refused, ...shown, body: isOurs ? ours : (sampleIn(documented) ?? ours) };
  };
  return { unreadable, mismatched, refusal };
}

/** Whether a documented media type, such as `application/*`, is this one. */
function accepts(documented: string, type: string): boolean {
  const [kind, form] = mediaTypeOf(documented).split("/");
  const [givenKind, givenForm] = type.split("/");
  return (kind === "*" || kind === givenKind) && (form === "*" || form === givenForm);
}

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
