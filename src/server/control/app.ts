import { promisify } from "node:util";
import express, {
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from "express";
import { textOfBytes } from "../../node/files/scenario-files.js";
import { timers } from "../../node/platform.js";
import { SandboxError } from "../../rules/errors.js";
import { mapTexts, redact, redactPath } from "../../rules/keys/redact.js";
import { controlPath } from "../../rules/paths.js";
import { checkedCopy, checkInput } from "../../rules/validation.js";
import { runDue } from "../../sandbox/operations/operations.js";
import { controlBodies } from "../../scenario/format/inputs.js";
import { jsonNotation, queryNotation } from "../../schema/describe.js";
import { isTooDeep, maxLevels, tryParseJson } from "../../schema/json-text.js";
import * as s from "../../schema/shape.js";
import { listed } from "../../schema/words.js";
import { endSlowestClient } from "../sockets/connections.js";
import type { StateFile } from "../state-file.js";
import { admitCallers, hasReadingMethod, isHealthProbe, localsOf } from "./access.js";
import { HttpError, sendControlError } from "./control-errors.js";
import { pageHandlers, setPageHeaders, toGzip } from "./page.js";
import type { ControlServer, Route, RouteContext, RouteResult } from "./route.js";
import { routes } from "./routes/routes.js";

/** Headers of each response of the control plane: its page shows state, which others must not frame, and caches must not keep. */
const controlHeaders = {
  "Cache-Control": "no-store",
  "X-Frame-Options": "DENY",
  "X-Content-Type-Options": "nosniff",
};

/** The bytes of a call's body, such as a scenario. */
const maxBodyBytes = 256_000;

/** The control plane. No error ends the process. A call that is rejected changes nothing. */
export function createControlApp(server: ControlServer): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", "simple");
  app.set("case sensitive routing", true);

  app.use(logCalls(server), setControlHeaders, admitCallers(server));
  app.use(...pageHandlers);
  mountRoutes(app, server);
  app.use(({ path }: Request) => {
    throw new SandboxError("not_found", `The control plane has no path ${redactPath(path)}.`);
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    localsOf(response).errorCode = sendControlError(response, error, server.onDefect);
  });
  return app;
}

/** Logs each call with a writing method and each rejected token, once its response is known. */
function logCalls({ options }: ControlServer): RequestHandler {
  return (request, response, next) => {
    response.once("close", () => {
      const { statusCode } = response;
      const isRejected = statusCode === 401 && request.headers.authorization !== undefined;
      if (hasReadingMethod(request) && !isRejected) return;

      let result = response.writableFinished ? `${statusCode}` : "no response";
      const { errorCode } = localsOf(response);
      if (errorCode) result += ` ${errorCode}`;
      options.onControlCall?.({ call: `${request.method} ${redactPath(request.path)}`, result });
    });
    next();
  };
}

const setControlHeaders: RequestHandler = (_request, response, next) => {
  response.set(controlHeaders);
  next();
};

/**
 * The turns of calls: one call runs in a turn of the event loop, and clients, signals and timers come between two. A call may take
 * long, such as one for a thousand farmers.
 */
class CallTurns {
  #latest = Promise.resolve();

  /** Resolves when it is the next call's turn. */
  next(): Promise<void> {
    this.#latest = this.#latest.then(() => new Promise((resolve) => timers.setImmediate(resolve)));
    return this.#latest;
  }
}

/** Mounts each path with all its methods. */
function mountRoutes(app: Express, server: ControlServer): void {
  const turns = new CallTurns();
  for (const path of new Set(routes.map((route) => route.path))) {
    // Express writes `{ref}` as `:ref`.
    const mounted = app.route(controlPath + path.replace(/\{(\w+)\}/g, ":$1"));
    const allowed: string[] = [];

    for (const route of routes) {
      if (route.path !== path) continue;
      const run: RequestHandler = async (request, response) => {
        const sent = await readSent(route, request, response);
        if (!isHealthProbe(request)) await turns.next();
        // Nobody waits for it any more.
        if (response.closed) return;
        endSlowestClient(server.openConnections);
        await runRoute(route, server, sent, request, response);
      };
      const method = route.method.toLowerCase() as Lowercase<Route["method"]>;
      mounted[method](run);
      allowed.push(route.method);
      if (method === "get") allowed.push("HEAD");
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

const yamlTypes = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"];

/** What a client has sent with a call, checked by the shapes of its route. */
interface SentCall extends Pick<RouteContext, "query" | "body" | "yaml"> {}

const readBytes = promisify(express.raw({ limit: maxBodyBytes, type: () => true }));

/** Reads a call. Throws for one that cannot be read. */
async function readSent(route: Route, request: Request, response: Response): Promise<SentCall> {
  const query = checkedQuery(route, request.query);
  if (route.method === "GET") return { query, body: {}, yaml: undefined };

  const kind = bodyKind(route, request);
  if (kind === "unreadable") {
    const orYaml = route.acceptsYaml ? " or application/yaml" : "";
    throw new SandboxError(
      "unsupported_media_type",
      `The body must be application/json${orYaml} in UTF-8; send it with that Content-Type.`,
    );
  }

  await readBytes(request, response);
  const text = textOfBytes((request.body as Buffer | undefined) ?? new Uint8Array());
  if (kind === "yaml") return { query, body: {}, yaml: text };
  // A missing body of a write is an empty object.
  const value = text === "" ? {} : parseJson(text);
  const body = checkInput(controlBodies[route.body ?? "nothing"], value, "read the body", jsonNotation);
  return { query, body, yaml: undefined };
}

/** The parameters of a query as values, checked by the route's shape. */
function checkedQuery(
  route: Route,
  sent: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { query } = route;
  if (query === undefined) return {};

  const values: [name: string, value: unknown][] = [];
  for (const [name, value] of Object.entries(sent)) {
    const field = query.fields[name];
    const isText = field !== undefined && s.shapeOfField(field).kind === "text";
    // Anything but a number or a flag is unchanged: the shape of its field rejects it.
    let read: unknown = value;
    if (!isText && typeof value === "string") {
      if (/^\d+$/.test(value)) read = Number(value);
      else if (value === "true" || value === "false") read = value === "true";
    }
    values.push([name, read]);
  }
  return checkedCopy(query, Object.fromEntries(values), "read the query", queryNotation);
}

/** The kind of a call's body by its Content-Type. Any other is unreadable: pages of other origins can send forms and plain text without a preflight request. */
function bodyKind(route: Route, request: Request): "json" | "yaml" | "unreadable" {
  const contentType = request.get("content-type") ?? "";
  const [type = "", ...parameters] = contentType.toLowerCase().replace(/[\s"]/g, "").split(";");
  // No page can send a DELETE without a preflight request.
  const announcesBody =
    request.get("transfer-encoding") !== undefined || Number(request.get("content-length") ?? 0) !== 0;
  if (type === "" && request.method === "DELETE" && !announcesBody) return "json";

  const charset = parameters.find((parameter) => parameter.startsWith("charset="));
  if (charset !== undefined && charset !== "charset=utf-8") return "unreadable";
  if (type === "application/json") return "json";
  return route.acceptsYaml && yamlTypes.includes(type) ? "yaml" : "unreadable";
}

/** Runs a call, saves its change and sends its result. */
async function runRoute(
  route: Route,
  server: ControlServer,
  sent: SentCall,
  request: Request,
  response: Response,
): Promise<void> {
  // The sandbox must be as of now.
  const { sandbox } = server;
  server.options.beforeControlCall?.();
  runDue(sandbox);

  const params = request.params as RouteContext["params"]; // Express has read them from the path of the route
  const result = await route.run({ ...sent, sandbox, server, params, request, response });

  // A change is saved before the client gets its response.
  if (route.changes) saveChange(result, server.options.stateFile);
  await sendResult(route, result, request, response);
}

function parseJson(text: string): unknown {
  const body = tryParseJson(text);
  if (body === undefined) throw new HttpError("bad_request", "The body is not valid JSON.");
  if (isTooDeep(body)) {
    throw new HttpError("bad_request", `The body is nested more than ${maxLevels} levels deep.`);
  }
  return body;
}

/** Saves a change. One that cannot be saved is an error with its result: a new secret exists nowhere else. */
function saveChange(result: RouteResult, stateFile: StateFile | undefined): void {
  try {
    stateFile?.save();
  } catch (error) {
    const { code, message } = error as SandboxError;
    throw new SandboxError(code, message, result.kind === "json" ? { ...result.json } : {});
  }
}

/** Bodies with fewer bytes fit into one packet uncompressed. */
const fewestBytes = 1400;

/** Sends the response of a route, without keys. */
async function sendResult(
  { showsSecret }: Route,
  result: RouteResult,
  request: Request,
  response: Response,
): Promise<void> {
  const { kind } = result;
  switch (kind) {
    case "json":
      response.status(result.status).type("json");
      await sendCompressed(request, response, safeJson(result.json, showsSecret));
      return;
    case "text":
      response.type(result.type);
      await sendCompressed(request, response, result.text.split("\n").map(redact).join("\n"));
      return;
    case "page":
      response.status(result.status);
      setPageHeaders(response, result.type);
      await sendCompressed(request, response, result.content);
      return;
    case "redirect":
      response.redirect(308, result.to);
      return;
    case "nothing":
      response.status(204).end();
      return;
    default:
      kind satisfies never;
  }
}

/** A value as JSON without keys (R46): a scenario may have them anywhere. `showsSecret`: with the new ones. */
function safeJson(value: object, showsSecret: boolean): string {
  const json = JSON.stringify(value);
  // Nearly always: to look at each text of a large sandbox takes long.
  if (redact(json) === json) return json;
  const isNewSecret = (name: string) => showsSecret && (name === "secret" || name === "keys");
  return JSON.stringify(mapTexts(value, redact, isNewSecret));
}

/**
 * Sends a body whose type is set, compressed if it is long and the client accepts that. Only of a GET or HEAD, which have no
 * secrets: the length of a compressed body can tell about a secret in it.
 */
async function sendCompressed(request: Request, response: Response, content: string | Buffer): Promise<void> {
  const body = Buffer.from(content);
  const isWorthIt = hasReadingMethod(request) && body.length >= fewestBytes;
  if (!isWorthIt || !request.acceptsEncodings("gzip")) {
    response.send(body);
    return;
  }
  // Also for a HEAD, which has the length of the GET.
  response.set("Content-Encoding", "gzip").send(await toGzip(body));
}
