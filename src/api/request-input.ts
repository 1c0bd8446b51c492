import { containsKey } from "../spec/redact.js";
import type { ReadBody, Received, RequestContent } from "../spec/request.js";
import { hasBody, headerIn, isFromBrowser, isFromPage } from "../spec/request-traits.js";
import { mismatchesIn } from "../spec/schema/check.js";
import { parsedJson } from "../spec/schema/json.js";
import { mapping, optional, type Shape } from "../spec/schema/shape.js";
import type { EndpointInput, InputSchema, OwnRefusal } from "./endpoint.js";

/** Reads a web `Request`; `path` and `query` are those of its URL. */
export function receivedWeb(request: Request, path: string, query: string): Received {
  const { method, body, referrer } = request;
  const headers: string[] = [];
  request.headers.forEach((value, name) => void headers.push(name, value));
  // A service worker sees the referring page instead of the headers that only browsers send.
  let traits = referrer?.startsWith("http") ? isFromBrowser | isFromPage : 0;
  // A request from a network has a length; fetch leaves the length to the network.
  if (body !== null && body !== undefined && !request.headers.has("content-length")) traits |= hasBody;
  return { method, path, query, headers, traits };
}

/** The content of a request, for endpoints that accept one. */
export function contentOf(
  { query, headers }: Pick<Received, "query" | "headers">,
  body: ReadBody,
): RequestContent {
  return {
    query: query.slice(1),
    contentType: headerIn(headers, "content-type"),
    idempotencyKey: headerIn(headers, "idempotency-key"),
    body,
  };
}

/** Longest body, in bytes. */
export const longestBody = 64 * 1024;

export const noBody: ReadBody = { text: "" };
export const tooLongBody: ReadBody = { text: "", problem: `it is longer than ${longestBody} bytes` };

/** Decodes a body. The result has a problem if the body is too long or not UTF-8. */
export function bodyOf(bytes: Uint8Array): ReadBody {
  if (bytes.length > longestBody) return tooLongBody;
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { text: "", problem: "it is not UTF-8" };
  }
}

const none: RequestContent = { query: "", contentType: undefined, idempotencyKey: undefined, body: noBody };

export function readInput(
  input: InputSchema,
  asked: EndpointInput,
  content: RequestContent = none,
  isChecked = false,
): EndpointInput | OwnRefusal {
  if (input.read !== undefined) return input.read(asked, content, isChecked);
  const { now, params } = asked;
  const { values: query, problems: inQuery } = readQuery(input.query, content.query);
  if (inQuery !== undefined) return invalid(inQuery);
  const idempotencyKey =
    input.idempotencyKey === true ? readIdempotencyKey(content.idempotencyKey) : undefined;
  if (idempotencyKey === null)
    return invalid({ "Idempotency-Key": "must be 1 to 255 visible characters, and not an API key" });
  if (input.body === undefined) return { now, params, query, body: undefined, idempotencyKey };
  const { value: body, problem: reason } = readJson(content);
  if (reason !== undefined) return { refused: "400.bad_request", details: { reason } };
  const inBody = fieldProblems(input.body.shape, body, "body");
  return inBody === undefined ? { now, params, query, body, idempotencyKey } : invalid(inBody);
}

function readQuery(
  declared: InputSchema["query"],
  query: string,
): { readonly values: EndpointInput["query"]; readonly problems?: FieldProblems | undefined } {
  if (declared === undefined) return { values: {} };
  const given = new URLSearchParams(query);
  const values: Record<string, string | number> = {};
  for (const [name, text] of given) {
    if (Object.hasOwn(declared, name) && given.getAll(name).length > 1)
      return { values, problems: { [name]: "was given more than once" } };
    const isNumber = declared[name]?.kind === "number";
    // A number that is not written in digits stays a text, which the schema rejects.
    values[name] = isNumber && /^\d{1,15}$/.test(text) ? Number(text) : text;
  }
  const fields = Object.entries(declared).map(([name, shape]) => [name, optional(shape)]);
  return { values, problems: fieldProblems(mapping(Object.fromEntries(fields)), values, "query") };
}

/**
 * `undefined` without a header, `null` for an invalid one. Accepts it quoted, as in the draft, or bare, as most clients
 * send it.
 */
function readIdempotencyKey(header: string | undefined): string | undefined | null {
  if (header === undefined) return undefined;
  // It is stored, also in state files, so it must not be an API key sent by mistake (R46). Checked before the regular
  // expression, because V8 keeps the last text that it was run on.
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
    return { problem: "it is not sent as application/json" };
  }
  const value = parsedJson(body.text);
  return value === undefined ? { problem: "it is not JSON" } : { value };
}

/** The problems of a value, by field path. None contains the value itself, which may contain a key (R46). */
type FieldProblems = Readonly<Record<string, string>>;

export function invalid(fields: FieldProblems): OwnRefusal {
  return { refused: "422.validation", details: { fields } };
}

const mostProblems = 50;

function fieldProblems(shape: Shape, value: unknown, name: string): FieldProblems | undefined {
  const problems = mismatchesIn(shape, value).slice(0, mostProblems);
  if (problems.length === 0) return undefined;
  return Object.fromEntries(
    problems.map(({ path, expected, value }) => [
      path || name,
      value === undefined ? "is missing" : `expected ${expected}`,
    ]),
  );
}
