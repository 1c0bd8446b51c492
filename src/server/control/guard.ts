import type { IncomingMessage } from "node:http";
import type { RequestHandler, Response } from "express";
import { controlPath, isLoopbackHost, nameIn } from "../../node/addresses.js";
import { nodePlatform } from "../../node/platform.js";
import { redactPath } from "../../rules/redact.js";
import { type Account, processorTime } from "../../store/account.js";
import type { ListedInstance } from "../../store/instances.js";
import type { SandboxPlace } from "../../store/store.js";
import { ofControl, rejectExcess } from "../sockets/excess.js";
import { isPagePath } from "../sockets/messages.js";
import type { Server } from "../sockets/server-state.js";
import { instanceTokenPrefix, isOwners, isSame, tokenIn } from "../sockets/token.js";
import { HttpRejection } from "./rejections.js";

// Probes of containers and load balancers have no token.
const probePaths = [`${controlPath}/health`, `${controlPath}/ready`];

// Partners have no token yet, but a link's code, which is checked.
const claimPath = new RegExp(`^${controlPath}/instances/[^/]+/claim$`);

/** Rejects a foreign `Host` on a loopback address, cross-site requests except a click on a link, and calls without the token. */
export function guardControl(server: Server, targetOf: TargetOf): RequestHandler[] {
  return [auditCalls(server, targetOf), keepForeignOut(server), admitCallers(server, targetOf)];
}

type TargetOf = (request: IncomingMessage) => SandboxPlace;

export const auditChange: RequestHandler = (_request, { locals }, next) => {
  locals.isChange = true;
  next();
};

const idForm = /^[0-9A-Za-z]{12}$/;

// Records each change and each rejected token, once its response is known.
function auditCalls({ store, audit }: Server, targetOf: TargetOf): RequestHandler {
  return (request, response, next) => {
    response.locals.startedAt = processorTime();
    const path = request.path.slice(controlPath.length);
    const inPath = targetOf(request).instance ?? /^\/instances\/([^/]+)/.exec(path)?.[1] ?? "";
    // In place of an id may be a link's code.
    const named = idForm.test(inPath) ? inPath : undefined;
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
    response.set(ofControl);
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
      throw new HttpRejection("foreign_origin", message);
    }
    next();
  };
}

/** Who makes a call. */
interface Caller {
  readonly kind: "caller";
  readonly actor: "control_token" | "instance_token" | "anyone" | "link";
  /** Whether the caller could read everything in this place. */
  readonly mayKnowAll: boolean;
  /** Who pays for the call. Default: nobody, because it is the owner's, or a probe. */
  readonly payer?: "instance" | "sender";
}

type Identity = Caller | { readonly kind: "rejected" };

const stranger = { actor: "unknown", mayKnowAll: false, payer: "sender" } as const;

/** Decides who makes a call from its token and its path. */
function identify(
  server: Server,
  request: IncomingMessage & { readonly path: string },
  instance: string | undefined,
): Identity | Promise<Identity> {
  const { store } = server;
  const { path } = request;
  const sent = tokenIn(request);
  const opensAll = isOwners(server, sent);
  const isForInstance = !opensAll && sent.startsWith(instanceTokenPrefix);
  const hash = nodePlatform.sha256(sent.slice(instanceTokenPrefix.length));
  const isOf = (listed: Pick<ListedInstance, "tenancy"> | undefined) =>
    isForInstance && isSame(hash, listed?.tenancy.tokenHash);
  if (probePaths.includes(path) || isPagePath(path) || claimPath.test(path)) {
    const mayKnowAll = opensAll || (instance !== undefined && isOf(store.instances.find(instance)));
    const isFree = opensAll || probePaths.includes(path);
    return { kind: "caller", actor: "link", mayKnowAll, ...(!isFree && { payer: "sender" }) };
  }
  const actor = server.token === undefined || sent === "" ? "anyone" : "control_token";
  if (opensAll) return { kind: "caller", actor, mayKnowAll: true };
  if (!isForInstance || instance === undefined) return { kind: "rejected" };
  // Another replica may just have replaced the token.
  return Promise.resolve(store.instances.get(instance)).then((listed) =>
    isOf(listed)
      ? { kind: "caller", actor: "instance_token", mayKnowAll: true, payer: "instance" }
      : { kind: "rejected" },
  );
}

function admitCallers(server: Server, targetOf: TargetOf): RequestHandler {
  return (request, response, next) => {
    const { sandbox, instance } = targetOf(request);
    const { accounts } = server;
    const admit = (identity: Identity) => {
      const { payer, ...caller } = identity.kind === "rejected" ? stranger : identity;
      Object.assign(response.locals, caller);
      const account: Account | undefined =
        payer &&
        (payer === "instance" ? accounts.of(sandbox) : accounts.ofSender(request.socket.remoteAddress));
      if (account === undefined) return next();
      response.locals.account = account;
      const excess = account.excess();
      if (excess !== undefined) {
        server.traffic.excess += 1;
        return rejectExcess(excess, response);
      }
      account.count(false, processorTime() - response.locals.startedAt);
      const error = identity.kind === "rejected" ? noToken(response) : undefined;
      account.measure(() => next(error));
    };
    const identity = identify(server, request, instance);
    if (identity instanceof Promise) identity.then(admit).catch(next);
    else admit(identity);
  };
}

function noToken(response: Response): HttpRejection {
  response.set("WWW-Authenticate", 'Bearer realm="svc-sandbox control plane"');
  return new HttpRejection(
    "control_token_required",
    "Send the control token from the server's start, or inside an instance its own token: Authorization: Bearer <token>.",
  );
}
