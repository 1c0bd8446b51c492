import type { IncomingMessage, ServerResponse } from "node:http";
import express, { type Express, type NextFunction, type Request, type Response } from "express";
import { openApiDocument } from "../../api/openapi.js";
import { redactPath } from "../../api/redact-path.js";
import { refusals } from "../../domain/outcomes.js";
import { SandboxError } from "../../domain/sandbox-error.js";
import { controlPath } from "../http-server.js";
import type { ControlSurroundings } from "../lazy-control.js";
import { guardControl } from "./guard.js";
import { health } from "./health.js";
import { linksPage } from "./links-page.js";
import { listRequests } from "./requests.js";
import { sendControlError } from "./send-error.js";
import { worldState } from "./state.js";

/** What each call of the control plane answers, by path; all of them are GET so far. */
const calls: Readonly<Record<string, (surroundings: ControlSurroundings, request: Request) => unknown>> = {
  "/health": ({ host }) => health(host.world()),
  "/state": ({ host }) => ({ data: worldState(host.world()) }),
  "/requests": ({ host }, request) => ({ data: listRequests(host.world().journal, request.query) }),
  "/openapi.json": () => openApiDocument(),
};

/** Makes the control plane, `/__sandbox`. Its errors have the API's error body; none of them ends the process. */
export function createControlApp(
  surroundings: ControlSurroundings,
  onDefect: (error: unknown) => void,
): (request: IncomingMessage, response: ServerResponse) => void {
  const app = express();
  app.disable("x-powered-by");
  app.set("query parser", "simple");
  app.set("case sensitive routing", true);
  app.use(guardControl(surroundings));
  for (const [path, call] of Object.entries(calls)) {
    route(app, controlPath + path, (request, response) => {
      response.json(call(surroundings, request));
    });
  }
  route(app, `${controlPath}/`, (_request, response) => {
    response.type("html").send(linksPage(surroundings.host.world()));
  });
  app.use((request: Request) => {
    throw new SandboxError(
      "not_found",
      `There is nothing at ${redactPath(request.path)} in the control plane.`,
    );
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    sendError(response, error, onDefect);
  });
  return app;
}

// A wrong method must never look like a success.
function route(app: Express, path: string, answer: (request: Request, response: Response) => void): void {
  app
    .route(path)
    .get(answer)
    .all((_request, response) => {
      response.set("Allow", "GET, HEAD");
      sendControlError(response, 405, "method_not_allowed", `${path} takes GET and HEAD.`);
    });
}

const statusOfCode: Readonly<Record<string, number>> = { not_found: 404, validation_failed: 422 };

function sendError(response: Response, error: unknown, onDefect: (error: unknown) => void): void {
  if (error instanceof SandboxError && statusOfCode[error.code] !== undefined) {
    sendControlError(response, statusOfCode[error.code] as number, error.code, error.message, error.details);
    return;
  }
  // Express marks what a client did wrong (a path that cannot be decoded) with a 4xx status.
  const status = (error as { status?: number }).status;
  if (status !== undefined && status >= 400 && status < 500) {
    sendControlError(response, status, "bad_request", refusals.bad_request);
    return;
  }
  onDefect(error);
  sendControlError(response, 500, "internal_error", refusals.internal_error);
}
