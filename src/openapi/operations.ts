import {
  type Endpoint,
  type EndpointInput,
  jsonRequest,
  type OwnRefusal,
  type Success,
} from "../api/endpoint.js";
import { errorBody, jsonBody, textBody } from "../api/messages.js";
import { invalid } from "../api/request-input.js";
import { builtIn } from "../api/routes.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import { outcomeOf } from "../spec/outcomes.js";
import { redactKeys } from "../spec/redact.js";
import type { RequestContent } from "../spec/request.js";
import { isTooDeep, parsedJson } from "../spec/schema/json.js";
import type { JsonSchema } from "../spec/schema/json-schema.js";
import type { Members } from "../spec/schema/messages.js";
import { isMapping, type Path, type Shape } from "../spec/schema/shape.js";
import { type ApiDocument, ajvMessage, resolved, stepsOf } from "./document.js";
import { expanded, type Schemas, sampleOf, shapeOfSchema } from "./schemas.js";

// The operations of a document as endpoints.

/** An operation, and where the document describes it. */
export interface Operation {
  readonly method: string;
  /** With the base path of its server. */
  readonly path: string;
  readonly id: string;
  readonly at: Members;
  readonly place: Path;
  readonly parameters: readonly Parameter[];
  /** By status, such as `404`, `4XX` or `default`. */
  readonly responses: ReadonlyMap<string, Content>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly isRequired: boolean;
  readonly at: Members;
  readonly place: Path;
}

/** A response or a request body in one media type. */
export interface Content {
  readonly type: string;
  readonly isJson: boolean;
  /** `undefined` for none. */
  readonly schema: (() => JsonSchema) | undefined;
  readonly examples: ReadonlyMap<string, unknown>;
  readonly headers: readonly string[];
}

const mostOperations = 2000;
const methods = ["get", "post", "put", "patch", "delete"];
const isJsonType = (type: string) => /^[\w.+-]+\/(?:[\w.-]+\+)?json$/i.test(type.split(";")[0]?.trim() ?? "");

/** Lists the operations; `leftOut` gets those that cannot be served. */
export function operationsOf(
  document: ApiDocument,
  schemas: Schemas,
  leftOut: (note: string) => void,
): Operation[] {
  const { root, report } = document;
  const found: Operation[] = [];
  const ids = new Set<string>();
  for (const [template, item] of Object.entries(isMapping(root.paths) ? root.paths : {})) {
    const { at: pathItem, path: place } = resolved(document, item, ["paths", template]);
    for (const method of methods.filter((one) => isMapping(pathItem[one]))) {
      const at = pathItem[method] as Members;
      const path =
        basePath(at.servers ?? pathItem.servers ?? root.servers) + template.replace(/[?#].*$/s, "");
      const name = `${method.toUpperCase()} ${path}`;
      const own = [...place, method];
      if (/^\/__sandbox(?:\/|$)/i.test(path)) {
        report(
          "openapi_conflict",
          own,
          `${name} is a path of the sandbox itself`,
          "change the path, or the server's base path",
        );
      }
      const responses = responsesIn(document, schemas, at, [...own, "responses"]);
      if (path.split("/").some((step) => step.includes("{") && !/^\{[^{}]+\}$/.test(step))) {
        leftOut(`${name} is not served: a parameter is only a part of a segment.`);
      } else if (successOf(responses) === undefined) {
        leftOut(`${name} is not served: it documents no response with status 200, 201, 202 or 204.`);
      } else {
        const id = freeId(at.operationId, `${method} ${template}`, ids);
        const parameters = parametersIn(document, [
          [pathItem, place],
          [at, own],
        ]);
        found.push({ method: method.toUpperCase(), path, id, at, place: own, parameters, responses });
      }
      if (found.length === mostOperations)
        report("too_large", own, `more than ${mostOperations} operations`, "remove some");
    }
  }
  // The most specific path responds.
  const variables = ({ path }: Operation) => path.split("{").length;
  return found.sort((one, other) => variables(one) - variables(other));
}

/** The path of the first server. */
function basePath(servers: unknown): string {
  const [server] = Array.isArray(servers) ? servers : [];
  if (!isMapping(server) || typeof server.url !== "string") return "";
  const variables = isMapping(server.variables) ? server.variables : {};
  const valueOf = (name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return isMapping(variable) ? String(variable.default) : "";
  };
  const url = server.url.replace(/\{([^{}]*)\}/g, (_, name) => valueOf(name));
  return (
    /^(?:[a-z][a-z0-9+.-]*:)?(?:\/\/[^/?#]*)?([^?#]*)/i
      .exec(url)?.[1]
      ?.replace(/\/+$/, "")
      .replace(/^(?=[^/])/, "/") ?? ""
  );
}

// In path ids: `201.createPet`.
function freeId(given: unknown, name: string, taken: Set<string>): string {
  const words = (typeof given === "string" ? given : name)
    .replace(/[^\w-]+/g, "-")
    .replace(/^[^A-Za-z]+|-+$/g, "")
    .slice(0, 100);
  let id = words || "operation";
  for (let number = 2; taken.has(id); number++) id = `${words}-${number}`;
  taken.add(id);
  return id;
}

function parametersIn(document: ApiDocument, owners: readonly (readonly [Members, Path])[]): Parameter[] {
  const all = new Map<string, Parameter>();
  for (const [{ parameters }, owner] of owners) {
    for (const [index, node] of (Array.isArray(parameters) ? parameters : []).entries()) {
      const { at, path: place } = resolved(document, node, [...owner, "parameters", index]);
      if (typeof at.name !== "string" || typeof at.in !== "string") continue;
      const isRequired = at.required === true || at.in === "path";
      all.set(`${at.in} ${at.name}`, { name: at.name, in: at.in, isRequired, at, place });
    }
  }
  return [...all.values()];
}

function responsesIn(document: ApiDocument, schemas: Schemas, { responses }: Members, place: Path) {
  const entries = Object.entries(isMapping(responses) ? responses : {}).map(
    ([status, node]): [string, Content] => {
      const { at, path } = resolved(document, node, [...place, status]);
      return [status.toUpperCase(), contentIn(document, schemas, at, path, "response")];
    },
  );
  return new Map(entries);
}

function contentIn(
  document: ApiDocument,
  schemas: Schemas,
  at: Members,
  path: Path,
  direction: "request" | "response",
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
  let made: JsonSchema | undefined;
  const schema = () => (made ??= schemas.schemaAt(media.schema, direction, [...place, "schema"]));
  // Made now, for its problems.
  if (media.schema !== undefined) schema();
  return {
    type: type.includes("*") ? "application/json" : type,
    isJson,
    schema: media.schema === undefined ? undefined : schema,
    examples,
    headers,
  };
}

const successes = [200, 201, 202, 204] as const;

function successOf(responses: Operation["responses"]): (typeof successes)[number] | undefined {
  return (
    successes.find((status) => responses.has(String(status))) ??
    (responses.has("2XX") || responses.has("DEFAULT") ? 200 : undefined)
  );
}

function contentAt(responses: Operation["responses"], status: number): Content | undefined {
  return responses.get(String(status)) ?? responses.get(`${String(status)[0]}XX`) ?? responses.get("DEFAULT");
}

/** The body of a response: the example with this name, the first valid one, or a sample of the schema. */
export function bodyOf(
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

/** An operation as an endpoint. */
export function endpointOf(operation: Operation, document: ApiDocument, schemas: Schemas): Endpoint {
  const { method, path, id, at, responses } = operation;
  const status = successOf(responses) ?? 200;
  const content = contentAt(responses, status) as Content;
  const announced = builtIn
    .map((one) => one.announced)
    .find((one) => one !== undefined && at[one.extension] === true);
  const made = new Map<string, Success>();
  const sent = (from: Content, seed: number, name?: string): Success => {
    const key = `${[...responses.values()].indexOf(from)} ${seed} ${name ?? ""}`;
    let success = made.get(key);
    if (success === undefined) {
      const { value } = (from.type === "" ? undefined : bodyOf(schemas, from, seed, name)) ?? { value: {} };
      const body =
        from.type === ""
          ? textBody("")
          : from.isJson
            ? jsonBody(value)
            : textBody(typeof value === "string" ? value : "");
      success = { ...body, headers: from.headers, ...(!from.isJson && { type: from.type }) };
      made.set(key, success);
    }
    return success;
  };
  const shape = lazily(
    (): Shape =>
      content.schema === undefined ? { kind: "anything" } : shapeOfSchema(expanded(content.schema())),
  );
  const example = lazily((): unknown => bodyOf(schemas, content, 1)?.value);
  const { input, ask, refusals } = inputOf(operation, document, schemas);
  return {
    ...{ method, path, operationId: id, input, refusals, scope: scopeOf(at, document) },
    ...(status !== 200 && { status }),
    ...(announced !== undefined && { announced }),
    summary: typeof at.summary === "string" ? at.summary : `${method} ${path}`,
    description: typeof at.description === "string" ? at.description : "",
    responseName: `${id[0]?.toUpperCase()}${id.slice(1).replace(/\W(\w?)/g, (_, letter: string) => letter.toUpperCase())}Response`,
    get responseShape() {
      return shape();
    },
    get responseExample() {
      return example();
    },
    documented: (wanted: number, { seed }: SandboxState) => {
      const other = contentAt(responses, wanted);
      return other && sent(other, seed);
    },
    requests: (_caller, { seed }) => [ask(seed)],
    respond: (_caller, { seed, scenario }) => sent(content, seed, scenario.examples?.[id]),
  };
}

/** The scope in `security`, or `x-required-scope`. */
function scopeOf({ security, "x-required-scope": own }: Members, { root }: ApiDocument): string | null {
  const all = security ?? root.security;
  const scopes = (Array.isArray(all) ? all : []).flatMap((one) =>
    isMapping(one) ? Object.values(one).flat() : [],
  );
  const scope = scopes[0] ?? own;
  return typeof scope === "string" && scope !== "" ? scope : null;
}

function lazily<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** The checks of an operation's input, and a request that passes them. */
function inputOf(operation: Operation, document: ApiDocument, schemas: Schemas) {
  const { at, place, parameters, responses, path } = operation;
  const { checkOf, schemaAt } = schemas;
  const checked = parameters.filter(
    ({ in: where, at: one }) =>
      (where === "query" || where === "path") && isMapping(one.schema) && one.style !== "deepObject",
  );
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
  const ofParameters = schemaAt(node, "request", [...place, "parameters"]);
  const shapes = (expanded(ofParameters) as { properties: { query: { properties: Members } } }).properties
    .query.properties;
  const { at: body, path: bodyPlace } = resolved(document, at.requestBody, [...place, "requestBody"]);
  const types = Object.keys(isMapping(body.content) ? body.content : {});
  const content = types.length === 0 ? undefined : contentIn(document, schemas, body, bodyPlace, "request");
  const isDocumented = (status: number) => responses.has(String(status));
  const unreadable = isDocumented(400) || !isDocumented(422) ? "400.bad_request" : "422.validation";
  const mismatched = isDocumented(422) ? "422.validation" : "400.bad_request";

  const refusal = (refused: "400.bad_request" | "422.validation", details: Members): OwnRefusal => {
    const { status, code } = outcomeOf(refused);
    const { message } = outcomeOf("422.validation");
    const ours = errorBody(code ?? "", message ?? "", details);
    const documented = responses.get(String(status));
    if (documented?.schema === undefined || !documented.isJson) return { refused, details, body: ours };
    const isOurs = checkOf(documented.schema())(parsedJson(ours.text)) === undefined;
    const own = isOurs ? undefined : bodyOf(schemas, documented, 1);
    return { refused, details, body: own === undefined ? ours : jsonBody(own.value) };
  };
  const wrong = (check: ReturnType<typeof checkOf>, value: unknown, within: string) => {
    const error = check(value);
    if (error === undefined) return undefined;
    const missing = error.keyword === "required" ? (error.params.missingProperty as string) : undefined;
    const steps = [
      ...(within === "" ? [] : [within]),
      ...stepsOf(error.instancePath),
      ...(missing === undefined ? [] : [missing]),
    ];
    const field = redactKeys(steps.join(".")).slice(0, 200);
    const { details } = invalid({ [field]: missing === undefined ? ajvMessage(error) : "is missing" });
    return refusal(mismatched, details as Members);
  };

  const read = (
    asked: EndpointInput,
    { query, contentType = "", body: sent }: RequestContent,
  ): EndpointInput | OwnRefusal => {
    const given = new URLSearchParams(query);
    const inQuery = checked.filter(({ in: where, name }) => where === "query" && given.has(name));
    const values = Object.fromEntries(
      inQuery.map(({ name, at: one }) => {
        const isList = isMapping(shapes[name]) && shapes[name].type === "array";
        const all = given.getAll(name);
        return [
          name,
          isList ? (one.explode === false ? all.flatMap((text) => text.split(",")) : all) : all[0],
        ];
      }),
    );
    const names = path.split("/").flatMap((step) => (step.startsWith("{") ? [step.slice(1, -1)] : []));
    const inPath = Object.fromEntries(names.map((name) => [name, decoded(asked.params[name] ?? "")]));
    const problem = wrong(checkOf(ofParameters, true), { path: inPath, query: values }, "");
    if (problem !== undefined || content === undefined) return problem ?? asked;
    const unread = (reason: string) => refusal(unreadable, { reason });
    if (sent.problem !== undefined) return unread(sent.problem);
    if (sent.text === "") return body.required === true ? unread("it is missing") : asked;
    const type = contentType.split(";")[0]?.trim().toLowerCase() ?? "";
    const fits = (one: string) =>
      new RegExp(
        `^${one
          .split(";")[0]
          ?.replace(/[.+^${}()|[\]\\?]/g, "\\$&")
          .replaceAll("*", "[^/]*")}$`,
        "i",
      ).test(type);
    if (!types.some(fits)) return unread(`it is not sent as ${types.slice(0, 5).join(" or ")}`);
    if (isJsonType(type)) {
      const value = parsedJson(sent.text);
      if (value === undefined) return unread("it is not JSON");
      if (isTooDeep(value)) return unread("it is nested too deep");
      return (
        (content.isJson && content.schema && wrong(checkOf(content.schema()), value, "body")) || {
          ...asked,
          body: value,
        }
      );
    }
    if (type !== "application/x-www-form-urlencoded" || content.type !== type || content.schema === undefined)
      return asked;
    const fields = Object.fromEntries(new URLSearchParams(sent.text));
    return wrong(checkOf(content.schema(), true), fields, "body") ?? asked;
  };

  const bodyExample = lazily(() => (content === undefined ? undefined : bodyOf(schemas, content, 1)?.value));
  /** A request that passes the checks. */
  const ask = (seed: number) => {
    const sample = sampleOf(ofParameters, checkOf(ofParameters), seed)?.value;
    const { path: inPath = {}, query: inQuery = {} } = (isMapping(sample) ? sample : {}) as Readonly<
      Record<"path" | "query", Members>
    >;
    const text = (value: unknown) =>
      encodeURIComponent(typeof value === "object" ? JSON.stringify(value) : String(value));
    const exampleOf = (name: string) =>
      parameters.find((one) => one.name === name && one.at.example !== undefined)?.at.example;
    const filled = path.replace(
      /\{([^{}]+)\}/g,
      (_, name) => text(exampleOf(name) ?? inPath[name] ?? "1") || "1",
    );
    const needed = checked.filter(({ in: where, isRequired }) => where === "query" && isRequired);
    const pairs = needed.map(({ name }) =>
      [exampleOf(name) ?? inQuery[name]]
        .flat()
        .map((one) => `${encodeURIComponent(name)}=${text(one)}`)
        .join("&"),
    );
    const target = pairs.length === 0 ? filled : `${filled}?${pairs.join("&")}`;
    return {
      path: target,
      ...(content?.isJson === true && jsonRequest(bodyExample(), { "Content-Type": content.type })),
    };
  };

  const ofQuery = checked
    .filter((one) => one.in === "query")
    .map(({ name }) => [name, shapeOfSchema(shapes[name])]);
  const input = {
    ...(ofQuery.length > 0 && { query: Object.fromEntries(ofQuery) }),
    ...(content !== undefined && {
      body: {
        shape:
          content.schema === undefined
            ? ({ kind: "anything" } as Shape)
            : shapeOfSchema(expanded(content.schema())),
        get example() {
          return bodyExample();
        },
      },
    }),
    read,
  };
  const takesInput = checked.length > 0 || content !== undefined;
  const refusals = takesInput
    ? ([...new Set([unreadable, mismatched])] as ("400.bad_request" | "422.validation")[])
    : [];
  return { input, ask, refusals };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
