import type { IncomingMessage, ServerResponse } from "node:http";
import express, { type Express, type NextFunction, type Request, type Response } from "express";
import { openApiDocument } from "../../api/openapi.js";
import { SandboxError } from "../../domain/errors.js";
import { redactPath } from "../../domain/redact.js";
import { checkBody } from "../../scenario/problems/check-value.js";
import {
  type ControlContext,
  type ControlHandler,
  type ControlSurroundings,
  controlPath,
} from "../server/lazy-control.js";
import { actorOf } from "./actor.js";
import type { ControlCall } from "./call.js";
import { controlCalls } from "./calls.js";
import { controlOpenApiDocument } from "./control-openapi.js";
import { createServerStreams, streamEvents } from "./event-stream.js";
import { guardControl } from "./guard.js";
import { linksPage } from "./links-page.js";
import type { PagePath } from "./pages.js";
import { isYaml, readBody } from "./read-body.js";
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
  for (const [path, calls] of byPath(controlCalls)) mount(app, path, calls, contextOf);
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

function byPath(calls: readonly ControlCall[]): Map<string, ControlCall[]> {
  const paths = new Map<string, ControlCall[]>();
  for (const call of calls) paths.set(call.path, [...(paths.get(call.path) ?? []), call]);
  return paths;
}

function mount(app: Express, path: string, calls: readonly ControlCall[], contextOf: ContextOf): void {
  const route = app.route(controlPath + path.replace(/\{(\w+)\}/g, ":$1"));
  for (const call of calls) {
    const answer = (request: Request, response: Response) =>
      runCall(call, request, response, contextOf(request));
    if (call.method === "GET") route.get(answer);
    else route[methodName(call)](...readBody({ takesYaml: call.runYaml !== undefined }), answer);
  }
  // A wrong method must never look like a success.
  route.all(refuseMethod(calls.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]))));
}

function methodName({ method }: ControlCall): "post" | "put" | "patch" | "delete" {
  return method.toLowerCase() as "post" | "put" | "patch" | "delete";
}

function runCall(
  call: ControlCall,
  request: Request,
  response: Response,
  context: ControlContext,
): void | Promise<void> {
  const asked = {
    ...context,
    actor: actorOf(request, call.method),
    params: request.params as Record<string, string>,
    query: request.query,
  };
  const written = call.written?.run({ ...asked, body: undefined });
  if (written !== undefined) {
    response.status(call.status).type(written.type).send(written.text);
    return;
  }
  const answer =
    call.runYaml !== undefined && isYaml(request)
      ? call.runYaml({ ...asked, body: request.body as string })
      : call.run({ ...asked, body: bodyOf(call, request) as never });
  const send = (body: unknown) => {
    if (call.status === 204) response.status(204).end();
    else response.status(call.status).json(body);
  };
  return answer instanceof Promise ? answer.then(send) : send(answer);
}

// A GET has no body that anyone reads; a write that takes none is told when it gets one.
function bodyOf({ method, body = "nothing" }: ControlCall, request: Request): unknown {
  return method === "GET" ? {} : checkBody(body, request.body);
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
  const streams = createServerStreams(stopping);
  get("/events", (request, response) => streamEvents(contextOf(request).runtime, request, response, streams));
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
