import { createHash, timingSafeEqual } from "node:crypto";
import express, { type NextFunction, type Request, type RequestHandler, type Response } from "express";
import { isLoopbackHost, nameIn } from "../../node/addresses.js";
import { textOfBytes } from "../../node/files/load-scenario.js";
import { SandboxError } from "../../rules/errors.js";
import { controlPath, redactPath } from "../../rules/request-path.js";
import { checkValue } from "../../rules/schema/check.js";
import { isTooDeep, maxLevels, parsedJson, snakeCase } from "../../rules/schema/json.js";
import { shapeOf } from "../../rules/schema/shape.js";
import { listed } from "../../rules/schema/words.js";
import { requireAdministrator } from "../../sandbox/operations/key-operations.js";
import { runDue } from "../../sandbox/operations/operations.js";
import { checkInput, controlBodies } from "../../scenario/format/inputs.js";
import type { ControlHandler, ServerState } from "../sockets/server-state.js";
import { HttpError, sendControlError } from "./control-errors.js";
import { sendCompressed, servePageFiles } from "./page.js";
import { isTextResponse, jsonResponse, type Route } from "./route.js";
import { routes } from "./routes/routes.js";
import { sentScenario } from "./routes/scenario.js";

/** Headers of each response of the control plane. */
const ofControl = {
  "Cache-Control": "no-store",
  "X-Frame-Options": "DENY",
  "X-Content-Type-Options": "nosniff",
};

/** The bytes of a call's body, such as a scenario. */
const maxBodyBytes = 256_000;

/** No error ends the process or changes a sandbox. */
export function createControlApp(server: ServerState): ControlHandler {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", "simple");
  app.set("case sensitive routing", true);
  app.use(logCalls(server), keepForeignOut(server), admitCallers(server));
  app.use(servePageFiles);
  for (const path of new Set(routes.map((row) => row.path))) {
    const mounted = app.route(controlPath + path.replace(/\{(\w+)\}/g, ":$1"));
    const rows = routes.filter((row) => row.path === path);
    for (const row of rows) {
      const run = (request: Request, response: Response) => runRoute(row, server, request, response);
      const method = row.method.toLowerCase() as "get" | "post" | "put" | "patch" | "delete";
      const body = express.raw({ limit: maxBodyBytes, type: () => true });
      mounted[method](...(method === "get" ? [] : [requireType(row), body]), run);
    }
    // A wrong method must never look like a success.
    mounted.all(
      methodNotAllowed(rows.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]))),
    );
  }
  app.use(({ path }: Request) => {
    throw new SandboxError("not_found", `The control plane has no path ${redactPath(path)}.`);
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    response.locals.code = sendControlError(response, error, server.onDefect);
  });
  return app;
}

async function runRoute(row: Route, server: ServerState, request: Request, response: Response) {
  const { sandbox, stateFile } = server;
  const runYaml = isYamlIn(request) ? row.runYaml : undefined;
  const body = runYaml === undefined ? inputOf(row, request) : sentScenario(bodyText(request));
  admitActor(request);
  const input = {
    sandbox,
    params: request.params as Record<string, string>,
    query: checkedQuery(row, request),
    body: body as never, // its shapes have checked it
  };
  server.beforeControlCall();
  runDue(sandbox);
  const result = await (runYaml ?? row.run)(input, { server, request, response });
  const json = isTextResponse(result) ? undefined : snakeCase(result);
  if (row.changes) saveChange(json, stateFile);
  if (response.headersSent) return;
  if (result === undefined) return void response.status(204).end();
  const { type, text } = isTextResponse(result) ? result : jsonResponse(row.isBare ? json : { data: json });
  response.status(row.status ?? 200);
  await sendCompressed(request, response.type(type), Buffer.from(text));
}

/** A change that cannot be saved is an error with its result: a new secret exists nowhere else. */
function saveChange(data: unknown, stateFile: ServerState["stateFile"]): void {
  try {
    stateFile?.save();
  } catch (error) {
    const { code, message } = error as SandboxError;
    throw new SandboxError(code, message, data === undefined ? {} : { data });
  }
}

function checkedQuery({ query }: Route, request: Request): Readonly<Record<string, unknown>> {
  if (query === undefined) return {};
  const { fields } = query;
  const parsed = (name: string, value: unknown) => {
    const field = fields[name];
    if (typeof value !== "string" || (field !== undefined && shapeOf(field).kind === "text")) return value;
    return /^\d+$/.test(value) ? Number(value) : value === "true" || (value === "false" ? false : value);
  };
  const values = Object.entries(request.query).map(([name, value]) => [name, parsed(name, value)]);
  return checkValue(query, Object.fromEntries(values), "The query is not valid");
}

/** Only an administrator changes a sandbox over HTTP (R33): the routes need not ask again. */
function admitActor(request: Request): void {
  const actor = request.get("x-sandbox-actor") ?? "administrator";
  if (actor !== "administrator" && actor !== "member") {
    const problem = "is administrator or member";
    throw new SandboxError("validation_failed", `The header X-Sandbox-Actor ${problem}.`, {
      fields: { "X-Sandbox-Actor": problem },
    });
  }
  if (request.method !== "GET" && request.method !== "HEAD") requireAdministrator({ actor });
}

const yamlTypes = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"];

function typeOf(request: Request): string {
  return request.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

// Not decided by the body: a JSON body may also be a string.
function isYamlIn(request: Request): boolean {
  return yamlTypes.includes(typeOf(request));
}

// Rejects other types, because pages of other origins can send forms and plain text without a preflight request.
function requireType({ runYaml }: Route) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const type = typeOf(request);
    const charset = /;\s*charset\s*=\s*"?([^";]*)/i.exec(request.get("content-type") ?? "")?.[1] ?? "utf-8";
    const isTaken = type === "application/json" || (runYaml !== undefined && isYamlIn(request));
    // No page can send a DELETE without a preflight request.
    const isBare =
      request.method === "DELETE" &&
      request.get("transfer-encoding") === undefined &&
      Number(request.get("content-length") ?? 0) === 0;
    const isReadable = isTaken ? charset.trim().toLowerCase() === "utf-8" : type === "" && isBare;
    if (isReadable) {
      next();
      return;
    }
    throw new SandboxError(
      "unsupported_media_type",
      `The body must be application/json${runYaml === undefined ? "" : " or application/yaml"} in UTF-8; send it with that Content-Type.`,
    );
  };
}

// Ignores the body of a GET. A missing body of a write is an empty object; a body that the route does not accept is rejected.
function inputOf({ method, body = "nothing" }: Route, request: Request): unknown {
  if (method === "GET") return {};
  const text = bodyText(request);
  return checkInput(controlBodies[body], text === "" ? {} : parseJson(text));
}

function methodNotAllowed(allowed: readonly string[]) {
  return ({ path }: Request, response: Response): void => {
    response.set("Allow", allowed.join(", "));
    throw new SandboxError(
      "method_not_allowed",
      `${redactPath(path)} accepts only ${listed(allowed, "and")}.`,
    );
  };
}

const pagePath = new RegExp(`^${controlPath}(?:/?$|/assets/|/docs(?:/|$))`);

const isPagePath = (path: string) => pagePath.test(path);

// Probes of containers and load balancers have no token.
const probePaths = [`${controlPath}/health`, `${controlPath}/ready`];

/** Logs each change and each rejected token, once its response is known. */
function logCalls({ onControlCall }: ServerState): RequestHandler {
  return (request, response, next) => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    response.once("close", () => {
      const { locals, statusCode, writableFinished } = response;
      const isRejected = statusCode === 401 && request.headers.authorization !== undefined;
      if (isRead && !isRejected) return;
      const result = [writableFinished ? statusCode : "no response", locals.code].filter(Boolean).join(" ");
      onControlCall({ call: `${request.method} ${redactPath(request.path)}`, result });
    });
    next();
  };
}

function keepForeignOut({ loopback, allowedHosts }: ServerState): RequestHandler {
  const allowedNames = allowedHosts.map(nameIn);
  return ({ headers, method, path }, response, next) => {
    // The page shows state: other pages must not frame it, and caches must not keep it.
    response.set(ofControl);
    const { host = "", origin, "sec-fetch-site": site } = headers;
    if (loopback && host !== "" && !isLoopbackHost(host) && !allowedNames.includes(nameIn(host))) {
      throw new HttpError(
        "foreign_host",
        "The control plane responds only to this machine's own names, such as localhost, and to the names in --allow-host.",
      );
    }
    // A proxy may replace the Host.
    const isForeign =
      origin !== undefined &&
      ![host.toLowerCase(), ...allowedHosts].some(
        (name) => origin === `http://${name}` || origin === `https://${name}`,
      );
    const isCrossSite = site === "cross-site" || site === "same-site";
    const opensPage =
      method === "GET" &&
      headers["sec-fetch-mode"] === "navigate" &&
      headers["sec-fetch-dest"] === "document" &&
      isPagePath(path);
    if (isForeign || (isCrossSite && !opensPage)) {
      const message = "The control plane does not respond to pages of other origins.";
      throw new HttpError("foreign_origin", message);
    }
    next();
  };
}

/** Rejects calls without the token, except of probes, which get only the status, and of the page. */
function admitCallers(server: ServerState): RequestHandler {
  return (request, response, next) => {
    response.locals.mayKnowAll = isAdmitted(server, request);
    if (response.locals.mayKnowAll || probePaths.includes(request.path) || isPagePath(request.path))
      return next();
    response.set("WWW-Authenticate", 'Bearer realm="svc-sandbox control plane"');
    throw new HttpError(
      "control_token_required",
      "Send the control token from the server's start: Authorization: Bearer <token>.",
    );
  };
}

/** Whether a call may do everything: it has the server's token, or the server needs none. */
function isAdmitted({ token }: ServerState, { headers }: Request): boolean {
  return token === undefined || isSame(/^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1] ?? "", token);
}

// Hashes have the same length, so that the comparison takes the same time for every wrong text.
function isSame(sent: string, right: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(sent), digest(right));
}

function bodyText({ body }: Request): string {
  return textOfBytes((body as Buffer | undefined) ?? new Uint8Array());
}

function parseJson(text: string): unknown {
  const body = parsedJson(text);
  if (body === undefined) throw new HttpError("bad_request", "The body is not valid JSON.");
  if (!isTooDeep(body)) return body;
  throw new HttpError("bad_request", `The body is nested more than ${maxLevels} levels deep.`);
}
