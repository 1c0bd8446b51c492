import type { Request, RequestHandler } from "express";
import { textOfBytes } from "../../node/files/scenario-files.js";
import { SandboxError } from "../../rules/errors.js";
import { checkedCopy, checkInput } from "../../rules/validation.js";
import { controlBodies } from "../../scenario/format/inputs.js";
import { isTooDeep, maxLevels, tryParseJson } from "../../schema/json-text.js";
import { jsonNotation } from "../../schema/notation.js";
import { shapeOfField } from "../../schema/shape.js";
import { HttpError } from "./control-errors.js";
import type { Route } from "./route.js";
import { readSentScenario } from "./sent-scenario.js";

const yamlTypes = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"];

/** Rejects bodies of other types, because pages of other origins can send forms and plain text without a preflight request. */
export function requireReadableType(route: Route): RequestHandler {
  return (request, _response, next) => {
    if (bodyKind(route, request) !== "unreadable") {
      next();
      return;
    }
    const orYaml = route.runYaml === undefined ? "" : " or application/yaml";
    throw new SandboxError(
      "unsupported_media_type",
      `The body must be application/json${orYaml} in UTF-8; send it with that Content-Type.`,
    );
  };
}

/** How a route reads the body of a call, by its Content-Type: a JSON body may also be a string of YAML. */
function bodyKind(route: Route, request: Request): "json" | "yaml" | "unreadable" {
  const type = contentTypeOf(request);
  // No page can send a DELETE without a preflight request.
  const needsNoType = request.method === "DELETE" && !announcesBody(request);
  if (type === "" && needsNoType) return "json";

  if (!isInUtf8(request)) return "unreadable";
  if (type === "application/json") return "json";
  const isYaml = route.runYaml !== undefined && yamlTypes.includes(type);
  return isYaml ? "yaml" : "unreadable";
}

function announcesBody(request: Request): boolean {
  if (request.get("transfer-encoding") !== undefined) return true;
  return Number(request.get("content-length") ?? 0) !== 0;
}

/** The media type of a body, without its parameters; empty if there is none. */
function contentTypeOf(request: Request): string {
  const [type = ""] = (request.get("content-type") ?? "").split(";", 1);
  return type.trim().toLowerCase();
}

/** Whether the charset of a Content-Type is UTF-8, as in `application/json; charset=utf-8`. Default: it is. */
function isInUtf8(request: Request): boolean {
  const type = request.get("content-type") ?? "";
  const [, charset = "utf-8"] = /;\s*charset\s*=\s*"?([^";]*)/i.exec(type) ?? [];
  return charset.trim().toLowerCase() === "utf-8";
}

/** What was sent in a call, and the function of its route that takes it. */
interface ReadCall {
  readonly run: Route["run"];
  readonly body: unknown;
  readonly query: Readonly<Record<string, unknown>>;
}

/** Reads what was sent in a call, and checks it by the shapes of the route. A scenario in YAML is only parsed: its check is a part of its start. */
export function readControlCall(route: Route, request: Request): ReadCall {
  const query = checkedQuery(route, request);
  if (bodyKind(route, request) !== "yaml") {
    return { run: route.run, body: checkedBody(route, request), query };
  }
  const scenario = readSentScenario(bodyText(request));
  return { run: route.runYaml as Route["run"], body: scenario, query }; // a YAML body is for this function
}

/** The JSON body of a call, checked by the shape of its route. A missing body of a write is an empty object. */
function checkedBody(route: Route, request: Request): unknown {
  // A GET has no body to look at.
  if (route.method === "GET") return {};
  const text = bodyText(request);
  const callBody = text === "" ? {} : parseJson(text);
  return checkInput(controlBodies[route.body ?? "nothing"], callBody, "read the body", jsonNotation);
}

function bodyText({ body }: Request): string {
  return textOfBytes((body as Buffer | undefined) ?? new Uint8Array());
}

function parseJson(text: string): unknown {
  const body = tryParseJson(text);
  if (body === undefined) throw new HttpError("bad_request", "The body is not valid JSON.");
  if (isTooDeep(body)) {
    throw new HttpError("bad_request", `The body is nested more than ${maxLevels} levels deep.`);
  }
  return body;
}

/** The parameters of a query as values, checked by the route's shape. */
function checkedQuery(route: Route, request: Request): Readonly<Record<string, unknown>> {
  const { query } = route;
  if (query === undefined) return {};

  const values: [name: string, value: unknown][] = [];
  for (const [name, value] of Object.entries(request.query)) {
    const field = query.fields[name];
    const isText = field !== undefined && shapeOfField(field).kind === "text";
    values.push([name, isText ? value : numberOrFlag(value)]);
  }
  return checkedCopy(query, Object.fromEntries(values), "read the query", jsonNotation);
}

/** The number or the flag in a parameter. Anything else is unchanged: the shape of its field rejects it. */
function numberOrFlag(value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (/^\d+$/.test(value)) return Number(value);
  if (value === "true") return true;
  if (value === "false") return false;
  return value;
}
