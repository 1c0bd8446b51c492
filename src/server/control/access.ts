import { createHash, timingSafeEqual } from "node:crypto";
import type { Request, RequestHandler, Response } from "express";
import { hostName, isLoopbackHost } from "../../node/host-names.js";
import { SandboxError } from "../../rules/errors.js";
import { controlPath } from "../../rules/paths.js";
import { requireAdministrator } from "../../sandbox/operations/change.js";
import { HttpError } from "./control-errors.js";
import type { ControlServer } from "./route.js";

// Who may call the control plane: no page of another origin, only who has the token, and only an administrator makes changes.

/** The page's own files, which show no state: a browser that opens them has no token yet. */
const pagePath = new RegExp(`^${controlPath}(?:/?$|/assets/|/docs(?:/|$))`);

/** Whether a call is a probe of a container or a load balancer: they have no token. */
export function isHealthProbe({ path }: Request): boolean {
  return path === `${controlPath}/health` || path === `${controlPath}/ready`;
}

/** Whether a call reads by its method. Some of the others change nothing, such as the check of a scenario, which is a POST for its body. */
export function hasReadingMethod({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

/** Rejects calls that another origin's page makes, calls without the token, and a member's changes. */
export function admitCallers(server: ControlServer): RequestHandler {
  const allowedNames = server.allowedHosts.map(hostName);
  return (request, response, next) => {
    rejectForeign(request, server, allowedNames);
    requireToken(request, response, server);
    requireActor(request);
    next();
  };
}

/** Throws for a call that another origin's page makes in a browser on this machine. */
function rejectForeign(
  request: Request,
  { isLocal, allowedHosts }: ControlServer,
  allowedNames: readonly string[],
): void {
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
  const [, hostOfOrigin] = /^https?:\/\/(.*)$/.exec(origin ?? "") ?? [];
  const isOwn = hostOfOrigin !== undefined && ownNames.includes(hostOfOrigin);
  const isForeign = origin !== undefined && !isOwn;
  const site = request.headers["sec-fetch-site"];
  const isCrossSite = site === "cross-site" || site === "same-site";
  if (isForeign || (isCrossSite && !opensPage(request))) {
    const message =
      "The control plane does not respond to pages of other origins. If this page reaches it through a proxy, start with --allow-host and the page's host and port, or with --public-url and its URL.";
    throw new HttpError("foreign_origin", message);
  }
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

/** Throws for a call without the token, except of the page, and of probes, which get the status of the server and nothing of its sandbox. */
function requireToken(request: Request, response: Response, server: ControlServer): void {
  const isAdmitted = hasToken(server, request);
  localsOf(response).isAdmitted = isAdmitted;
  if (isAdmitted || isHealthProbe(request) || pagePath.test(request.path)) return;

  response.set("WWW-Authenticate", 'Bearer realm="svc-sandbox control plane"');
  throw new HttpError(
    "control_token_required",
    "Send the control token from the server's start: Authorization: Bearer <token>.",
  );
}

/** Whether a call may do everything: it has the server's token, or the server needs none. */
function hasToken({ controlToken }: ControlServer, { headers }: Request): boolean {
  if (controlToken === undefined) return true;
  const [, sent = ""] = /^Bearer (.+)$/i.exec(headers.authorization ?? "") ?? [];
  // Hashes have the same length, so that the comparison takes the same time for every wrong text.
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(sent), digest(controlToken));
}

/** Throws for an actor that does not exist, and for a member with a writing method (R33), who learns nothing of what is wrong with it. */
function requireActor(request: Request): void {
  const actor = request.get("x-sandbox-actor") ?? "administrator";
  if (actor !== "administrator" && actor !== "member") {
    const problem = "must be administrator or member";
    throw new SandboxError("validation_failed", `The header X-Sandbox-Actor ${problem}.`, {
      fields: { "X-Sandbox-Actor": problem },
    });
  }
  if (!hasReadingMethod(request)) requireAdministrator({ actor });
}

/** What the handlers of one call tell each other, in the `locals` of its response. */
interface CallLocals {
  /** Whether the caller has the token, or needs none. */
  isAdmitted?: boolean;
  /** The code of the error that the call got. */
  errorCode?: string | undefined;
}

export function localsOf(response: Response): CallLocals {
  return response.locals;
}
