import type { IncomingMessage, ServerResponse } from "node:http";
import express, { type Express, type NextFunction, type Request, type Response } from "express";
import { openApiDocument } from "../../api/openapi.js";
import { SandboxError } from "../../domain/errors.js";
import { redactPath } from "../../domain/redact.js";
import { type Actor, requireAdministrator } from "../../sandbox/operations/check-input.js";
import { checkInput, checkValue } from "../../scenario/problems/check-value.js";
import type { ControlContext, ControlHandler, ControlSurroundings } from "../server/http-server.js";
import { controlPath } from "../server/read-request.js";
import { streamEvents } from "./events.js";
import { guardControl } from "./guard.js";
import { controlOpenApiDocument } from "./openapi.js";
import { isYaml, readBody } from "./read-body.js";
import type { Route, RouteContext } from "./route.js";
import { linksPage, type PagePath, routes } from "./routes.js";
import { sendControlError, sendError } from "./send-error.js";

/**
 * Makes the control plane, `/__sandbox`, of a server and of its instances.
 *
 * Its errors have the API's error body; none of them ends the process, and none of them changes the world.
 */
export function createControlApp(
  surroundings: ControlSurroundings,
  onDefect: (error: unknown) => void,
): ControlHandler {
  const contexts = new WeakMap<IncomingMessage, ControlContext>();
  const contextOf = (request: Request) => contexts.get(request) as ControlContext;

  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", "simple");
  app.set("case sensitive routing", true);
  app.use(guardControl(surroundings));
  for (const path of new Set(routes.map((row) => row.path))) {
    mount(
      app,
      routes.filter((row) => row.path === path),
      contextOf,
    );
  }
  mountPages(app, contextOf, surroundings.stopping);
  app.use((request: Request) => {
    throw new SandboxError(
      "not_found",
      `There is nothing at ${redactPath(request.path)} in the control plane.`,
    );
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    sendError(response, error, onDefect);
  });
  return (request: IncomingMessage, response: ServerResponse, context: ControlContext) => {
    contexts.set(request, context);
    app(request, response);
  };
}

type ContextOf = (request: Request) => ControlContext;

function mount(app: Express, rows: readonly Route[], contextOf: ContextOf): void {
  const path = rows[0]?.path ?? "";
  const mounted = app.route(controlPath + path.replace(/\{(\w+)\}/g, ":$1"));
  for (const row of rows) {
    const answer = (request: Request, response: Response) =>
      runRoute(row, request, response, contextOf(request));
    if (row.method === "GET") mounted.get(answer);
    else mounted[methodName(row)](...readBody({ takesYaml: row.runYaml !== undefined }), answer);
  }
  // A wrong method must never look like a success.
  mounted.all(refuseMethod(rows.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]))));
}

function methodName({ method }: Route): "post" | "put" | "patch" | "delete" {
  return method.toLowerCase() as "post" | "put" | "patch" | "delete";
}

function runRoute(
  row: Route,
  request: Request,
  response: Response,
  { runtime, instances }: ControlContext,
): void | Promise<void> {
  const actor = actorOf(request);
  const context: RouteContext = {
    runtime,
    world: runtime.world(),
    instances,
    actor,
    params: request.params as Record<string, string>,
    query: queryOf(row, request),
    body: undefined,
  };
  const written = row.text?.run(context);
  if (written !== undefined) {
    response.status(row.status).type(written.type).send(written.text);
    return;
  }
  const answer =
    row.runYaml !== undefined && isYaml(request)
      ? row.runYaml({ ...context, body: request.body as string })
      : row.run({ ...context, body: bodyOf(row, request) as never });
  const send = (body: unknown) => {
    if (row.status === 204) response.status(204).end();
    else response.status(row.status).json(body);
  };
  return answer instanceof Promise ? answer.then(send) : send(answer);
}

function queryOf({ query }: Route, request: Request): Readonly<Record<string, unknown>> {
  if (query === undefined) return {};
  const values = Object.entries(request.query).map(([name, value]) => [name, numberIn(value)] as const);
  return checkValue(query, Object.fromEntries(values), "The query is not valid");
}

function numberIn(value: unknown): unknown {
  return typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
}

// The body of a GET is ignored; one of a write that takes none is refused.
function bodyOf({ method, body = "nothing" }: Route, request: Request): unknown {
  return method === "GET" ? {} : checkInput(body, request.body);
}

/** Reads `X-Sandbox-Actor`; throws `not_an_administrator` for a member's write (R33), or `validation_failed`. */
function actorOf(request: Request): Actor {
  const actor = request.get("x-sandbox-actor") ?? "administrator";
  if (actor !== "administrator" && actor !== "member") {
    const problem = "is administrator or member";
    throw new SandboxError("validation_failed", `The header X-Sandbox-Actor ${problem}.`, {
      fields: { "X-Sandbox-Actor": problem },
    });
  }
  if (request.method !== "GET" && request.method !== "HEAD") requireAdministrator({ actor });
  return actor;
}

function mountPages(app: Express, contextOf: ContextOf, stopping: AbortSignal): void {
  const get = (path: PagePath, answer: (request: Request, response: Response) => void) =>
    app
      .route(controlPath + path)
      .get(answer)
      .all(refuseMethod(["GET", "HEAD"]));
  get("/openapi.json", (request, response) => {
    const { preview } = contextOf(request).runtime.world();
    response.json(openApiDocument({ preview }));
  });
  get("/control.openapi.json", (_request, response) => void response.json(controlOpenApiDocument()));
  get("/events", (request, response) => {
    const { runtime, gone = stopping } = contextOf(request);
    streamEvents(runtime, request, response, gone);
  });
  get("/", (request, response) => {
    const { runtime, instances } = contextOf(request);
    const page = linksPage(runtime.world(), { here: request.path, isInstance: instances === undefined });
    response.type("html").send(page);
  });
}

function refuseMethod(allowed: readonly string[]) {
  return (request: Request, response: Response) => {
    response.set("Allow", allowed.join(", "));
    sendControlError(
      response,
      405,
      "method_not_allowed",
      `${redactPath(request.path)} takes ${allowed.join(" and ")}.`,
    );
  };
}
