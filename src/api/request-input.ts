import { containsKey } from "../domain/redact.js";
import { hasBody, hasQuery, type RequestTraits } from "../domain/request-traits.js";
import type { Endpoint, EndpointInput, InputSchema, OwnRefusal } from "./endpoint.js";
import { type FieldProblems, fieldProblems, invalid } from "./field-problems.js";
import type { ApiRequest } from "./messages.js";
import { endpointsOf, parametersIn, type Route, routeAt } from "./routes.js";

const nothing: Readonly<Record<string, never>> = Object.freeze({});

/** What a request asks of an endpoint, or the refusal where that is not as the endpoint declares it. */
export function readInput(
  { input }: Endpoint,
  route: Route,
  { path, content }: ApiRequest,
  now: number,
): EndpointInput | OwnRefusal {
  const params = parametersIn(route, path);
  if (input === undefined) return { now, params, query: nothing, body: undefined, idempotencyKey: undefined };
  return readAsked(input, content ?? noContent, { now, params });
}

function readAsked(
  takes: InputSchema,
  content: RequestContent,
  { now, params }: Pick<EndpointInput, "now" | "params">,
): EndpointInput | OwnRefusal {
  const query = takes.query === undefined ? nothing : readQuery(takes.query, content.query);
  if ("problems" in query) return invalid(query.problems as FieldProblems);
  const key = takes.idempotencyKey === true ? readIdempotencyKey(content.idempotencyKey) : undefined;
  if (key === null)
    return invalid({ "Idempotency-Key": "must be 1 to 255 visible characters, and no API key" });
  if (takes.body === undefined) return { now, params, query, body: undefined, idempotencyKey: key };
  const { value, problem } = readJson(content);
  if (problem !== undefined) return { refused: "400.bad_request", details: { reason: problem } };
  const problems = fieldProblems(takes.body.schema, value);
  return problems === undefined
    ? { now, params, query, body: value, idempotencyKey: key }
    : invalid(problems);
}

function readQuery(
  declared: NonNullable<InputSchema["query"]>,
  query: string,
): EndpointInput["query"] | { readonly problems: FieldProblems } {
  const given = new URLSearchParams(query);
  const values: Record<string, string | number> = {};
  for (const name of new Set(given.keys())) {
    const all = given.getAll(name);
    if (all.length > 1 && Object.hasOwn(declared, name)) {
      return { problems: { [name]: "was given more than once" } };
    }
    const isNumber = declared[name]?.schema.type === "integer";
    // A number that is written in another way than with digits is left as it is, and found wrong.
    values[name] = isNumber && /^\d{1,15}$/.test(all[0] as string) ? Number(all[0]) : (all[0] as string);
  }
  const properties = Object.fromEntries(Object.entries(declared).map(([name, { schema }]) => [name, schema]));
  const problems = fieldProblems(
    { type: "object", properties, additionalProperties: false },
    values,
    "query",
  );
  return problems === undefined ? values : { problems };
}

/** The key, `undefined` when there is none, `null` when it is not one. Quoted as the draft wants it, or bare as most send it. */
function readIdempotencyKey(header: string | undefined): string | undefined | null {
  if (header === undefined) return undefined;
  // It is kept, and written down with the state, so that it must not be a key of the API sent by mistake (R46). Asked
  // first: a regular expression keeps the last text that it was tried on.
  if (containsKey(header)) return null;
  const quoted = /^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(header)?.[1];
  const key = quoted === undefined ? header : quoted.replace(/\\(.)/g, "$1");
  const isFine = quoted !== undefined || /^[\x21\x23-\x2b\x2d-\x7e]*$/.test(key);
  return isFine && key.length >= 1 && key.length <= 255 && !containsKey(key) ? key : null;
}

function readJson({ contentType = "", body }: RequestContent): { value?: unknown; problem?: string } {
  if (body.problem !== undefined) return { problem: body.problem };
  if (body.text === "") return { problem: "it is missing" };
  if (!/^application\/json[\t ]*(?:;|$)/i.test(contentType.trim())) {
    return { problem: "it is not sent with Content-Type: application/json" };
  }
  try {
    return { value: JSON.parse(body.text) };
  } catch {
    return { problem: "it is not JSON" };
  }
}

/** How long a body may be, in bytes. */
export const longestBody = 64 * 1024;

/** The body of a request as text, or why there is none. */
export interface ReadBody {
  /** Empty when there is no body. */
  readonly text: string;
  /** What is wrong with what was sent; `undefined` when nothing is. */
  readonly problem?: string;
}

export const noBody: ReadBody = { text: "" };
export const tooLongBody: ReadBody = { text: "", problem: `it is longer than ${longestBody} bytes` };

/** What a request says beside its method, path and key. Doors read it for endpoints that take any of it. */
export interface RequestContent {
  /** Without its question mark. */
  readonly query: string;
  readonly contentType: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly body: ReadBody;
}

/** The content of a request without any. */
export const noContent: RequestContent = {
  query: "",
  contentType: undefined,
  idempotencyKey: undefined,
  body: noBody,
};

/** The body that these bytes are; no more of them than {@link longestBody}. */
export function bodyOf(bytes: Uint8Array): ReadBody {
  if (bytes.length > longestBody) return tooLongBody;
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { text: "", problem: "it is not UTF-8" };
  }
}

/** What the endpoint at this path takes; `undefined` when there is none, or when it takes nothing. */
export function inputAt(preview: boolean, method: string, path: string): InputSchema | undefined {
  // Whoever calls the only endpoint there is without the preview is not to wait for a second look at the routes.
  if (!preview && !someReleasedTakes) return undefined;
  return routeAt(path, preview)?.methods.get(method)?.input;
}

/** The traits of what an endpoint takes: of these a client need not be told that they change nothing. */
export function traitsTaken({ query, body }: InputSchema): RequestTraits {
  return (query === undefined ? 0 : hasQuery) | (body === undefined ? 0 : hasBody);
}

const someReleasedTakes = endpointsOf(false).some(({ input }) => input !== undefined);
