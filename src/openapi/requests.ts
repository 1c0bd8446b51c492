import { type EndpointInput, jsonRequest, type OwnRefusal } from "../api/endpoint.js";
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
import { tooMuchWork } from "./keywords.js";
import type { Operation } from "./operations.js";
import { ofExamples, type Sampling, sampleOf } from "./sampler.js";
import { type SchemaReader, type Schemas, whole } from "./schemas.js";
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
    const steps = [within ?? [], found.path, found.missing ?? []].flat();
    const field = redactKeys(steps.join(".")).slice(0, 200);
    return refusal(mismatched, { fields: { [field]: found.message } });
  };

  const checkParameters = reader.checkOf(ofParameters, { reads: true });
  const readParameters = (asked: EndpointInput, query: string) => {
    const given = new URLSearchParams(query);
    const values = inQuery.flatMap((one) => {
      const value = valueIn(given, one, whole(reader, one.at.schema));
      return value === undefined ? [] : [[one.name, value]];
    });
    const names = path.split("/").flatMap((step) => (step.startsWith("{") ? step.slice(1, -1) : []));
    const inPath = names.map((name) => [name, decoded(asked.params[name] ?? "")]);
    const value = { path: Object.fromEntries(inPath), query: Object.fromEntries(values) };
    return wrong(checkParameters, value);
  };

  const whyOther = (type: string) => {
    const isDocumented = types.some((one) => accepts(one, type));
    return isDocumented ? undefined : `it is not sent as ${types.slice(0, 5).join(" or ")}`;
  };
  const readBody = (
    of: Content,
    { contentType = "", body: sent }: RequestContent,
  ): OwnRefusal | undefined => {
    const unread = (reason: string) => refusal(unreadable, { reason });
    if (sent.text === "" && sent.problem === undefined)
      return body.required === true ? unread("it is missing") : undefined;
    const type = mediaTypeOf(contentType);
    const why = sent.problem ?? whyOther(type);
    if (why !== undefined) return unread(why);
    const isForm = type === formType && mediaTypeOf(of.type) === formType;
    return isForm || isJsonType(type) ? readValue(of, sent.text, isForm) : undefined;
  };
  const readValue = (of: Content, sent: string, isForm: boolean) => {
    const value = isForm ? formIn(sent) : parsedJson(sent);
    if (value === undefined) return refusal(unreadable, { reason: "it is not JSON" });
    const levels = Math.max(usualLevels, reader.levelsOf(of.schema));
    if (isTooDeep(value, levels))
      return refusal(unreadable, { reason: `it is nested more than ${levels} levels deep` });
    const isChecked = isForm || of.isJson;
    return isChecked ? wrong(reader.checkOf(of.schema, { reads: isForm }), value, "body") : undefined;
  };

  const read = (asked: EndpointInput, sent: RequestContent): EndpointInput | OwnRefusal =>
    readParameters(asked, sent.query) ?? (content && readBody(content, sent)) ?? asked;

  const example = lazily(() => content && sampledBody(content, ofExamples)?.value);
  /** A request that passes the checks. */
  const ask = (sampling: Sampling) => {
    const sample = sampleOf(reader, ofParameters, sampling)?.value;
    const made = (isMapping(sample) ? sample : {}) as Readonly<Record<string, Members | undefined>>;
    const sampled = (where: string, name: string) => {
      const parameter = checked.find((one) => one.in === where && one.name === name);
      const given = parameter && givenValue(parameter, document, reader);
      return given ?? made[where]?.[name] ?? sampleOf(reader, parameter?.at.schema, sampling)?.value ?? 1;
    };
    const encoded = (value: unknown) =>
      encodeURIComponent(typeof value === "object" ? JSON.stringify(value) : String(value)) || "1";
    const filled = path.replace(/\{([^{}]+)\}/g, (_, name) => encoded(sampled("path", name)));
    const needed = inQuery.filter(({ isRequired }) => isRequired);
    const pairs = needed.flatMap((one): [string, unknown][] => {
      const value = sampled("query", one.name);
      if (Array.isArray(value) && !isExploded(one)) return [[one.name, value.join(separatorOf(one))]];
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
  const isOurs = /^(?:accept|authorization|content-type|x-api-key)$/i;
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

/** The value that a document has for a parameter: a valid example, or the first choice; `undefined` for none. */
function givenValue({ at }: Parameter, document: ApiDocument, reader: SchemaReader): unknown {
  const { examples = [], enum: choices = [], const: constant } = whole(reader, at.schema);
  const named = Object.values(isMapping(at.examples) ? at.examples : {});
  const inSchema = [examples, constant, choices].flat();
  const all = [at.example, ...named.map((one) => resolved(document, one, []).at.value), ...inSchema];
  const check = reader.checkOf(at.schema, { reads: true });
  return all.find((value) => value !== undefined && value !== null && check(value) === undefined);
}

/** The parts of a request that its document has no value for: `{id}` of the path, and what no sample is valid for. */
export function inventedIn(operation: Operation, document: ApiDocument, { request: reader }: Schemas) {
  const { path, parameters } = operation;
  const isKnown = (one: Operation["parameters"][number]) => givenValue(one, document, reader) !== undefined;
  const inPath = Array.from(path.matchAll(/\{([^{}]+)\}/g), ([, name]) => name).filter(
    (name) => !parameters.some((one) => one.in === "path" && one.name === name && isKnown(one)),
  );
  const others = parameters.filter(
    (one) =>
      one.isRequired &&
      one.in !== "path" &&
      !isKnown(one) &&
      sampleOf(reader, one.at.schema, ofExamples) === undefined,
  );
  return [...inPath.map((name) => `{${name}}`), ...others.map(({ name }) => name)];
}

/** The most levels of a body, unless the document needs more. */
const usualLevels = 16;

const formType = "application/x-www-form-urlencoded";

const separators: Readonly<Record<string, string>> = { spaceDelimited: " ", pipeDelimited: "|" };

interface Parameter {
  readonly name: string;
  readonly at: Members;
}

const isExploded = ({ at: { style = "form", explode = style === "form" } }: Parameter) => explode === true;
const separatorOf = ({ at }: Parameter) => separators[String(at.style)] ?? ",";

/** The name of a member of an object in a query. */
const memberName = ({ name, at }: Parameter, member: string) =>
  at.style === "deepObject" ? `${name}[${member}]` : member;

/** The value of a parameter in a query, as texts; `undefined` for none. */
function valueIn(given: URLSearchParams, parameter: Parameter, schema: Members): unknown {
  const { name } = parameter;
  const { type, properties } = schema;
  if (type === "object") {
    const members = Object.keys(isMapping(properties) ? properties : {})
      .map((member) => [member, given.get(memberName(parameter, member))] as const)
      .filter(([, value]) => value !== null);
    return members.length === 0 ? undefined : Object.fromEntries(members);
  }
  const all = given.getAll(name);
  if (type !== "array" || all.length === 0) return all[0];
  return isExploded(parameter) ? all : all.flatMap((one) => one.split(separatorOf(parameter)));
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
function refusalsOf({ responses }: Operation) {
  const [has400, has422] = ["400", "422"].map((status) => responses.has(status));
  const unreadable: Refused = has400 || !has422 ? "400.bad_request" : "422.validation";
  const mismatched: Refused = has422 ? "422.validation" : "400.bad_request";
  const bodies = new Map<Refused, () => TextBody | undefined>(
    [unreadable, mismatched].map((refused) => {
      const documented = responses.get(String(outcomeOf(refused).status));
      const isJson = documented?.schema !== undefined && documented.isJson;
      return [refused, lazily(() => (isJson ? bodyOf(sampledBody(documented, ofExamples)) : undefined))];
    }),
  );
  const refusal = (refused: Refused, details: Members): OwnRefusal => {
    const { status, code } = outcomeOf(refused);
    const { message } = outcomeOf("422.validation");
    const ours = errorBody(String(code), String(message), details);
    const { reader, schema } = responses.get(String(status)) ?? {};
    const isOurs = reader === undefined || reader.checkOf(schema)(parsedJson(ours.text)) === undefined;
    return { refused, details, body: isOurs ? ours : (bodies.get(refused)?.() ?? ours) };
  };
  return { unreadable, mismatched, refusal };
}

const bodyOf = (sample: { readonly value: unknown } | undefined) => sample && jsonBody(sample.value);

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
