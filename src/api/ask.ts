import { containsKey } from "../domain/redact.js";
import type { Endpoint, EndpointInput, InputSchema, OwnRefusal } from "./endpoint.js";
import { type FieldProblems, fieldProblems } from "./field-problems.js";
import { invalid } from "./invalid.js";
import type { ApiRequest } from "./messages.js";
import { noContent, type RequestContent } from "./request-content.js";
import { parametersIn, type Route } from "./routes.js";

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
