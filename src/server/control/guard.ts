import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { RequestHandler, Response } from "express";
import { controlPath, isLoopbackHost, nameIn } from "../../node/addresses.js";
import { nodePlatform } from "../../node/platform.js";
import { redactPath } from "../../rules/redact.js";
import type { ListedInstance } from "../../store/instances.js";
import { isPagePath } from "../sockets/messages.js";
import type { Server } from "../sockets/server-state.js";
import { HttpRejection } from "./rejections.js";

// Probes of containers and load balancers have no token.
const probePaths = [`${controlPath}/health`, `${controlPath}/ready`];

/** The prefix of instance tokens, so that secret scanners and this server recognize them. */
export const instanceTokenPrefix = "svci_";

// Partners have no token yet, but a link's code, which is checked.
const claimPath = new RegExp(`^${controlPath}/instances/[^/]+/claim$`);

/** Rejects a foreign `Host` on a loopback address, cross-site requests except a click on a link, and calls without the token. */
export function guardControl(server: Server, instanceOf: InstanceOf): RequestHandler[] {
  return [auditCalls(server, instanceOf), keepForeignOut(server), requireToken(server, instanceOf)];
}

type InstanceOf = (request: IncomingMessage) => string | undefined;

export const auditChange: RequestHandler = (_request, { locals }, next) => {
  locals.isChange = true;
  next();
};

// Records each change and each rejected token, once its response is known.
function auditCalls({ store, audit }: Server, instanceOf: InstanceOf): RequestHandler {
  return (request, response, next) => {
    const path = request.path.slice(controlPath.length);
    const named = instanceOf(request) ?? /^\/instances\/([0-9A-Za-z]+)/.exec(path)?.[1];
    // Before it is removed.
    const existing = named === undefined ? undefined : store.instances.find(named);
    response.once("close", () => {
      const { locals, statusCode, writableFinished } = response;
      const { isChange, actor = "unknown", code, instance = existing } = locals;
      const isRejected = statusCode === 401 && request.headers.authorization !== undefined;
      if (!isChange && !isRejected) return;
      const result = [writableFinished ? statusCode : "no response", code].filter(Boolean).join(" ");
      const id = instance?.id ?? named;
      const about = id === undefined ? undefined : { id, label: instance?.tenancy.label };
      audit({ action: `${request.method} ${redactPath(path)}`, actor, result }, about);
    });
    next();
  };
}

function keepForeignOut({ loopback, allowedHosts }: Server): RequestHandler {
  const allowedNames = allowedHosts.map(nameIn);
  return ({ headers, method, path }, response, next) => {
    // The page shows state: other pages must not frame it, and caches must not keep it.
    response.set({
      "Cache-Control": "no-store",
      "X-Frame-Options": "DENY",
      "X-Content-Type-Options": "nosniff",
    });
    const { host = "", origin, "sec-fetch-site": site } = headers;
    if (loopback && host !== "" && !isLoopbackHost(host) && !allowedNames.includes(nameIn(host))) {
      throw new HttpRejection(
        "foreign_host",
        "The control plane responds only to this machine's own names, such as localhost, and to the names in --allow-host.",
      );
    }
    // A proxy may replace the Host.
    const isForeign =
      origin !== undefined &&
      ![host.toLowerCase(), ...allowedHosts].some(
        (own) => origin === `http://${own}` || origin === `https://${own}`,
      );
    const isCrossSite = site === "cross-site" || site === "same-site";
    const opensPage =
      method === "GET" &&
      headers["sec-fetch-mode"] === "navigate" &&
      headers["sec-fetch-dest"] === "document" &&
      isPagePath(path);
    if (isForeign || (isCrossSite && !opensPage)) {
      const message = "The control plane does not respond to pages of other origins.";
      throw new HttpRejection("foreign_origin", message);
    }
    next();
  };
}

function requireToken({ token, store }: Server, instanceOf: InstanceOf): RequestHandler {
  return (request, response, next) => {
    const { path } = request;
    const given = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const isServers = isSame(given, token);
    const isForInstance = !isServers && given.startsWith(instanceTokenPrefix);
    const opensAll = !isForInstance && (isServers || token === undefined);
    const id = isForInstance ? instanceOf(request) : undefined;
    const opensOne = (found: Pick<ListedInstance, "tenancy"> | undefined) =>
      isSame(nodePlatform.sha256(given.slice(instanceTokenPrefix.length)), found?.tenancy.tokenHash);
    if (probePaths.includes(path) || isPagePath(path) || claimPath.test(path)) {
      response.locals.mayKnowAll = opensAll || (id !== undefined && opensOne(store.instances.find(id)));
      response.locals.actor = "link";
      return next();
    }
    response.locals.mayKnowAll = true;
    response.locals.actor = isServers ? "control_token" : "anyone";
    if (opensAll) return next();
    response.locals.actor = "unknown";
    if (id === undefined) throw noToken(response);
    // Another replica may just have replaced the token.
    Promise.resolve(store.instances.get(id)).then((found) => {
      if (!opensOne(found)) return next(noToken(response));
      response.locals.actor = "instance_token";
      next();
    }, next);
  };
}

function noToken(response: Response): HttpRejection {
  response.set("WWW-Authenticate", 'Bearer realm="svc-sandbox control plane"');
  return new HttpRejection(
    "control_token_required",
    "Send the control token from the server's start, or inside an instance its own token: Authorization: Bearer <token>.",
  );
}

// Hashes have the same length, so that the comparison takes the same time for every wrong text.
function isSame(given: string, right: string | undefined): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return right !== undefined && timingSafeEqual(digest(given), digest(right));
}
