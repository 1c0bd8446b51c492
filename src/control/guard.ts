import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { RequestHandler } from "express";
import { controlPath, isLoopbackHost, nameIn } from "../node/addresses.js";
import { nodePlatform } from "../node/platform.js";
import type { ControlSurroundings } from "../server/http-server.js";
import { isPagePath } from "./page.js";
import { HttpRefusal } from "./refusals.js";

// A probe of a container or a load balancer has no token.
const probePaths = [`${controlPath}/health`, `${controlPath}/ready`];

/** The start of each instance's own token, by which scanners for secrets and this server know it. */
export const instanceTokenPrefix = "svci_";

// Whoever has a link has no token yet: the code is checked.
const claimPath = new RegExp(`^${controlPath}/instances/[^/]+/claim$`);

/**
 * Keeps foreign pages and other machines out of the control plane.
 *
 * On a loopback address: a `Host` that is neither this machine's nor allowed is refused (DNS rebinding), and so is any cross-site request of a browser.
 * With a token: every call needs it as `Authorization: Bearer …`, but for `/health`, which says less without it, `/ready`, and the page, which asks for it.
 * An instance's own token opens that instance alone, also where no other token is needed.
 */
export function guardControl(
  { loopback, token, allowedHosts, log }: ControlSurroundings,
  instanceOf: (request: IncomingMessage) => string | undefined,
): RequestHandler {
  const allowedNames = allowedHosts.map(nameIn);
  const mayKnowAll = (request: IncomingMessage) => {
    const given = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1];
    if (isSame(given, token)) return true;
    if (given?.startsWith(instanceTokenPrefix) !== true) return token === undefined;
    const instance = instanceOf(request);
    const tokenHash = instance && log.instances.find(instance)?.tenancy.tokenHash;
    return isSame(nodePlatform.sha256(given.slice(instanceTokenPrefix.length)), tokenHash);
  };
  return (request, response, next) => {
    const { headers, path } = request;
    // The page shows state: it must not be framed by other pages or kept in a shared cache.
    response.set({
      "Cache-Control": "no-store",
      "X-Frame-Options": "DENY",
      "X-Content-Type-Options": "nosniff",
    });
    const { host = "", origin, "sec-fetch-site": site } = headers;
    if (loopback && host !== "" && !isLoopbackHost(host) && !allowedNames.includes(nameIn(host))) {
      throw new HttpRefusal(
        "foreign_host",
        "The control plane answers only to this machine's own names, such as localhost, and to those of --allow-host.",
      );
    }
    // A proxy may replace the Host of the page by another one.
    const isForeign =
      origin !== undefined &&
      ![host.toLowerCase(), ...allowedHosts].some(
        (own) => origin === `http://${own}` || origin === `https://${own}`,
      );
    if (isForeign || site === "cross-site" || site === "same-site") {
      const message = "The control plane does not answer to pages of other origins.";
      throw new HttpRefusal("foreign_origin", message);
    }
    response.locals.mayKnowAll = mayKnowAll(request);
    const needsToken = !probePaths.includes(path) && !isPagePath(path) && !claimPath.test(path);
    if (needsToken && !response.locals.mayKnowAll) {
      response.set("WWW-Authenticate", 'Bearer realm="svc-sandbox control plane"');
      throw new HttpRefusal(
        "control_token_required",
        "Send the control token that was printed at the start, or inside an instance its own token: Authorization: Bearer <token>.",
      );
    }
    next();
  };
}

// Hashes have one length, so that the comparison takes the same time for every wrong text.
function isSame(given: string | undefined, right: string | undefined): boolean {
  return given !== undefined && right !== undefined && timingSafeEqual(digest(given), digest(right));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
