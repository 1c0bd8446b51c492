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
  const contentType = request.get("content-type") ?? "";
  const [written = ""] = contentType.split(";", 1);
  const type = written.trim().toLowerCase();
  // No page can send a DELETE without a preflight request.
  const announcesBody =
    request.get("transfer-encoding") !== undefined || Number(request.get("content-length") ?? 0) !== 0;
  if (type === "" && request.method === "DELETE" && !announcesBody) return "json";

  // `application/json; charset=utf-8`
  const [, charset = "utf-8"] = /;\s*charset\s*=\s*"?([^";]*)/i.exec(contentType) ?? [];
  if (charset.trim().toLowerCase() !== "utf-8") return "unreadable";
  if (type === "application/json") return "json";
  const isYaml = route.runYaml !== undefined && yamlTypes.includes(type);
  return isYaml ? "yaml" : "unreadable";
}

/** Reads what was sent in a call, with the function of its route that takes it, and checks it by the shapes of the route. A scenario in YAML is only parsed: its check is a part of its start. */
export function readControlCall(
  route: Route,
  request: Request,
): { readonly run: Route["run"]; readonly body: unknown; readonly query: Readonly<Record<string, unknown>> } {
  const query = checkedQuery(route, request.query);
  // A GET has no body to look at.
  if (route.method === "GET") return { run: route.run, body: {}, query };

  const text = textOfBytes((request.body as Buffer | undefined) ?? new Uint8Array());
  if (bodyKind(route, request) === "yaml") {
    return { run: route.runYaml as Route["run"], body: readSentScenario(text), query }; // a YAML body is for this function
  }
  // A missing body of a write is an empty object.
  const sent = text === "" ? {} : parseJson(text);
  const body = checkInput(controlBodies[route.body ?? "nothing"], sent, "read the body", jsonNotation);
  return { run: route.run, body, query };
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
export function checkedQuery(
  route: Route,
  sent: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { query } = route;
  if (query === undefined) return {};

  const values: [name: string, value: unknown][] = [];
  for (const [name, value] of Object.entries(sent)) {
    const field = query.fields[name];
    const isText = field !== undefined && shapeOfField(field).kind === "text";
    // Anything but a number or a flag is unchanged: the shape of its field rejects it.
    let read: unknown = value;
    if (!isText && typeof value === "string") {
      if (/^\d+$/.test(value)) read = Number(value);
      else if (value === "true" || value === "false") read = value === "true";
    }
    values.push([name, read]);
  }
  return checkedCopy(query, Object.fromEntries(values), "read the query", jsonNotation);
}
