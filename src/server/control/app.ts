import { createHash, timingSafeEqual } from "node:crypto";
import express, {
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from "express";
import { textOfBytes } from "../../node/files/scenario-files.js";
import { hostName, isLoopbackHost } from "../../node/host-names.js";
import { SandboxError } from "../../rules/errors.js";
import { controlPath } from "../../rules/known-paths.js";
import { redactPath } from "../../rules/redact-path.js";
import { checkValue } from "../../rules/validation.js";
import { requireAdministrator } from "../../sandbox/operations/key-operations.js";
import { runDue } from "../../sandbox/operations/operations.js";
import { controlBodies } from "../../scenario/format/control-bodies.js";
import { checkInput } from "../../scenario/format/inputs.js";
import { isTooDeep, maxLevels, tryParseJson } from "../../schema/json-text.js";
import { jsonNotation } from "../../schema/notation.js";
import { shapeOfField } from "../../schema/shape-fields.js";
import { membersToSnakeCase } from "../../schema/spelling.js";
import { listed } from "../../schema/words.js";
import type { ControlHandler } from "../sockets/http-server.js";
import { HttpError, sendControlError } from "./control-errors.js";
import type { ControlServer } from "./control-server.js";
import { sendCompressed, servePageFiles } from "./page.js";
import { callNotesOn, jsonResponse, type Route, TextResponse } from "./route.js";
import { routes } from "./routes/routes.js";
import { readSentScenario } from "./routes/scenario.js";

/** Headers of each response of the control plane: its page shows state, which others must not frame, and caches must not keep. */
const controlHeaders = {
  "Cache-Control": "no-store",
  "X-Frame-Options": "DENY",
  "X-Content-Type-Options": "nosniff",
};

/** The bytes of a call's body, such as a scenario. */
const maxBodyBytes = 256_000;

const yamlTypes = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"];

/** The page's own files, which show no state: a browser that opens them has no token yet. */
const pagePath = new RegExp(`^${controlPath}(?:/?$|/assets/|/docs(?:/|$))`);

/** Probes of containers and load balancers have no token. */
const probePaths = [`${controlPath}/health`, `${controlPath}/ready`];

/** The control plane. No error ends the process or changes a sandbox. */
export function createControlApp(server: ControlServer): ControlHandler {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", "simple");
  app.set("case sensitive routing", true);

  app.use(logCalls(server), keepForeignOut(server), admitCallers(server));
  app.use(servePageFiles);
  mountRoutes(app, server);
  app.use(({ path }: Request) => {
    throw new SandboxError("not_found", `The control plane has no path ${redactPath(path)}.`);
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    callNotesOn(response).errorCode = sendControlError(response, error, server.onDefect);
  });
  return app;
}

/** Logs each call with a writing method and each rejected token, once its response is known. */
function logCalls({ onControlCall }: ControlServer): RequestHandler {
  return (request, response, next) => {
    response.once("close", () => {
      const { statusCode } = response;
      const isRejected = statusCode === 401 && request.headers.authorization !== undefined;
      if (hasReadingMethod(request) && !isRejected) return;

      let result = response.writableFinished ? `${statusCode}` : "no response";
      const { errorCode } = callNotesOn(response);
      if (errorCode) result += ` ${errorCode}`;
      onControlCall({ call: `${request.method} ${redactPath(request.path)}`, result });
    });
    next();
  };
}

/** Whether a call reads by its method. Some of the others change nothing, such as the check of a scenario, which is a POST for its body. */
function hasReadingMethod({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

/** Rejects calls that another origin's page makes in a browser on this machine. */
function keepForeignOut({ isLocal, allowedHosts }: ControlServer): RequestHandler {
  const allowedNames = allowedHosts.map(hostName);

  return (request, response, next) => {
    response.set(controlHeaders);

    // A page of another origin may give its own name this machine's address.
    const { host = "", origin } = request.headers;
    if (isLocal && host !== "" && !isLoopbackHost(host) && !allowedNames.includes(hostName(host))) {
      throw new HttpError(
        "foreign_host",
        "The control plane responds only to this machine's own names, such as localhost, and to the names in --allow-host.",
      );
    }

    // A proxy may replace the Host, so that the allowed names are origins, too.
    const ownNames = [host.toLowerCase(), ...allowedHosts];
    const isForeign = origin !== undefined && !isOriginOf(ownNames, origin);
    if (isForeign || (isCrossSite(request) && !opensPage(request))) {
      const message = "The control plane does not respond to pages of other origins.";
      throw new HttpError("foreign_origin", message);
    }
    next();
  };
}

/** Whether an origin has one of the names, with any scheme of HTTP. */
function isOriginOf(names: readonly string[], origin: string): boolean {
  for (const name of names) {
    if (origin === `http://${name}` || origin === `https://${name}`) return true;
  }
  return false;
}

/** Whether a browser says that a page of another origin makes the call. */
function isCrossSite({ headers }: Request): boolean {
  const site = headers["sec-fetch-site"];
  return site === "cross-site" || site === "same-site";
}

/** Whether a link opens a page. A page shows state only with its own calls. */
function opensPage({ headers, method, path }: Request): boolean {
  return (
    method === "GET" &&
    headers["sec-fetch-mode"] === "navigate" &&
    headers["sec-fetch-dest"] === "document" &&
    pagePath.test(path)
  );
}

/** Rejects calls without the token, except of probes, which get only the status, and of the page. */
function admitCallers(server: ControlServer): RequestHandler {
  return (request, response, next) => {
    const isAdmitted = hasToken(server, request);
    callNotesOn(response).isAdmitted = isAdmitted;
    if (isAdmitted || probePaths.includes(request.path) || pagePath.test(request.path)) {
      next();
      return;
    }

    response.set("WWW-Authenticate", 'Bearer realm="svc-sandbox control plane"');
    throw new HttpError(
      "control_token_required",
      "Send the control token from the server's start: Authorization: Bearer <token>.",
    );
  };
}

/** Whether a call may do everything: it has the server's token, or the server needs none. */
function hasToken({ controlToken }: ControlServer, { headers }: Request): boolean {
  if (controlToken === undefined) return true;
  const [, sent = ""] = /^Bearer (.+)$/i.exec(headers.authorization ?? "") ?? [];
  return isSameToken(sent, controlToken);
}

// Hashes have the same length, so that the comparison takes the same time for every wrong text.
function isSameToken(sent: string, right: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(sent), digest(right));
}

/** Mounts each path with all its methods. */
function mountRoutes(app: Express, server: ControlServer): void {
  const readBody = express.raw({ limit: maxBodyBytes, type: () => true });

  for (const path of new Set(routes.map((route) => route.path))) {
    // Express writes `{ref}` as `:ref`.
    const mounted = app.route(controlPath + path.replace(/\{(\w+)\}/g, ":$1"));
    const allowed: string[] = [];

    for (const route of routes) {
      if (route.path !== path) continue;
      const run: RequestHandler = (request, response) => runRoute(route, server, request, response);
      if (route.method === "GET") {
        mounted.get(admitActor, run);
        allowed.push("GET", "HEAD");
      } else {
        const method = route.method.toLowerCase() as "post" | "put" | "patch" | "delete";
        // A member learns nothing of what is wrong with a change.
        mounted[method](admitActor, requireType(route), readBody, run);
        allowed.push(route.method);
      }
    }

    // A wrong method must never look like a success.
    mounted.all(rejectMethod(allowed));
  }
}

/** Rejects a method that a path does not have. */
function rejectMethod(allowed: readonly string[]) {
  return ({ path }: Request, response: Response): void => {
    response.set("Allow", allowed.join(", "));
    throw new SandboxError(
      "method_not_allowed",
      `${redactPath(path)} accepts only ${listed(allowed, "and")}.`,
    );
  };
}

/** Rejects bodies of other types, because pages of other origins can send forms and plain text without a preflight request. */
function requireType(route: Route): RequestHandler {
  return (request, _response, next) => {
    if (hasReadableType(route, request)) {
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

/** Whether a route takes bodies of the type that a call has, in UTF-8. */
function hasReadableType(route: Route, request: Request): boolean {
  const type = contentTypeOf(request);
  // No page can send a DELETE without a preflight request.
  if (type === "" && request.method === "DELETE") return !announcesBody(request);

  const isTaken = type === "application/json" || (route.runYaml !== undefined && isYamlIn(request));
  if (!isTaken) return false;
  const [, charset = "utf-8"] = /;\s*charset\s*=\s*"?([^";]*)/i.exec(request.get("content-type") ?? "") ?? [];
  return charset.trim().toLowerCase() === "utf-8";
}

function announcesBody(request: Request): boolean {
  if (request.get("transfer-encoding") !== undefined) return true;
  return Number(request.get("content-length") ?? 0) !== 0;
}

/** Whether a call has a YAML body, by its type: a JSON body may also be a string. */
function isYamlIn(request: Request): boolean {
  return yamlTypes.includes(contentTypeOf(request));
}

/** The media type of a body, without its parameters; empty if there is none. */
function contentTypeOf(request: Request): string {
  const [type = ""] = (request.get("content-type") ?? "").split(";", 1);
  return type.trim().toLowerCase();
}

/** A control call: checks it, runs its route, saves its change and sends its result. */
async function runRoute(route: Route, server: ControlServer, request: Request, response: Response) {
  // All that was sent is checked before anything happens.
  const { run, body } = checkedCall(route, request);
  const query = checkedQuery(route, request);

  // The sandbox must be as of now.
  const { sandbox } = server;
  server.beforeControlCall();
  runDue(sandbox);

  // Express has read the parameters from the path of the route.
  const context = { sandbox, params: request.params, query, body };
  const result = await run(context, { server, request, response });

  // A change is saved before the client gets its response.
  const json = result instanceof TextResponse ? undefined : membersToSnakeCase(result);
  if (route.changes) saveChange(json, server.stateFile);

  // The routes of pages have sent their own response.
  if (response.headersSent) return;
  if (result === undefined) {
    response.status(204).end();
    return;
  }
  const jsonBody = route.isBare ? json : { data: json };
  const { type, text } = result instanceof TextResponse ? result : jsonResponse(jsonBody);
  response.status(route.status ?? 200).type(type);
  await sendCompressed(request, response, Buffer.from(text));
}

/** The function of a route for a call, and the checked body to run it with: a scenario in YAML has a function of its own. */
function checkedCall(route: Route, request: Request): CheckedCall {
  const { run, runYaml } = route;
  const isYaml = runYaml !== undefined && isYamlIn(request);
  if (!isYaml) return { run, body: checkedBody(route, request) };
  return { run: runYaml, body: readSentScenario(bodyText(request)) };
}

interface CheckedCall {
  readonly run: Route["run"];
  readonly body: unknown;
}

/** The JSON body of a call, checked by the shape of its route. A missing body of a write is an empty object. */
function checkedBody(route: Route, request: Request): unknown {
  // A GET has no body to look at.
  if (route.method === "GET") return {};
  const text = bodyText(request);
  const callBody = text === "" ? {} : parseJson(text);
  return checkInput(controlBodies[route.body ?? "nothing"], callBody, "The body is not valid", jsonNotation);
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

/** Only an administrator makes calls with a writing method (R33): the routes need not ask again. */
function admitActor(request: Request, _response: Response, next: NextFunction): void {
  const actor = request.get("x-sandbox-actor") ?? "administrator";
  if (actor !== "administrator" && actor !== "member") {
    const problem = "is administrator or member";
    throw new SandboxError("validation_failed", `The header X-Sandbox-Actor ${problem}.`, {
      fields: { "X-Sandbox-Actor": problem },
    });
  }
  if (!hasReadingMethod(request)) requireAdministrator({ actor });
  next();
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
  return checkValue(query, Object.fromEntries(values), "The query is not valid", jsonNotation);
}

/** The number or the flag in a parameter. Anything else is unchanged: the shape of its field rejects it. */
function numberOrFlag(value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (/^\d+$/.test(value)) return Number(value);
  if (value === "true") return true;
  if (value === "false") return false;
  return value;
}

/** Saves a change. One that cannot be saved is an error with its result: a new secret exists nowhere else. */
function saveChange(data: unknown, stateFile: ControlServer["stateFile"]): void {
  try {
    stateFile?.save();
  } catch (error) {
    const { code, message } = error as SandboxError;
    throw new SandboxError(code, message, data === undefined ? {} : { data });
  }
}
