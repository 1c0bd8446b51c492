import { createHash, timingSafeEqual } from "node:crypto";
import type { RequestHandler } from "express";
import { controlPath, isLoopbackHost, nameIn } from "../node/addresses.js";
import type { ControlSurroundings } from "../server/http-server.js";
import { isPagePath } from "./page.js";
import { HttpRefusal } from "./refusals.js";

// A probe of a container or a load balancer has no token.
const probePaths = [`${controlPath}/health`, `${controlPath}/ready`];

/**
 * Keeps foreign pages and other machines out of the control plane.
 *
 * On a loopback address: a `Host` that is neither this machine's nor allowed is refused (DNS rebinding), and so is any cross-site request of a browser.
 * With a token: every call needs it as `Authorization: Bearer …`, but for `/health`, which says less without it, `/ready`, and the page, which asks for it.
 */
export function guardControl({ loopback, token, allowedHosts }: ControlSurroundings): RequestHandler {
  const allowedNames = allowedHosts.map(nameIn);
  return ({ headers, path }, response, next) => {
    // The page shows state: it must not be framed by other pages or kept in a shared cache.
    response.set({
      "Cache-Control": "no-store",
      "X-Frame-Options": "DENY",
      "X-Content-Type-Options": "nosniff",
    });
    const { host = "", origin, "sec-fetch-site": site, authorization } = headers;
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
    response.locals.mayKnowAll = token === undefined || bearsToken(authorization, token);
    if (!response.locals.mayKnowAll && !probePaths.includes(path) && !isPagePath(path)) {
      response.set("WWW-Authenticate", 'Bearer realm="svc-sandbox control plane"');
      throw new HttpRefusal(
        "control_token_required",
        "Send the control token that was printed at the start: Authorization: Bearer <token>.",
      );
    }
    next();
  };
}

// Hashes have one length, so that the comparison takes the same time for every wrong token.
function bearsToken(authorization: string | undefined, token: string): boolean {
  const given = /^Bearer (.+)$/i.exec(authorization ?? "")?.[1];
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
