import { createHash, timingSafeEqual } from "node:crypto";
import type { RequestHandler } from "express";
import type { ControlSurroundings } from "../server/http-server.js";
import { isLoopbackHost } from "../server/listen.js";
import { sendControlError } from "./send-error.js";

/**
 * Keeps foreign pages and other machines out of the control plane.
 *
 * On a loopback address: a foreign `Host` is refused (DNS rebinding), and so is any cross-site request of a browser.
 * With a token: every call needs it as `Authorization: Bearer …`.
 */
export function guardControl({ loopback, token }: ControlSurroundings): RequestHandler {
  return (request, response, next) => {
    // The page shows state: it must not be framed by other pages or kept in a shared cache.
    response.set({
      "Cache-Control": "no-store",
      "X-Frame-Options": "DENY",
      "X-Content-Type-Options": "nosniff",
    });
    const host = request.headers.host ?? "";
    if (loopback && host !== "" && !isLoopbackHost(host)) {
      sendControlError(
        response,
        403,
        "foreign_host",
        "The control plane answers only to this machine's own names, such as 127.0.0.1 or localhost.",
      );
      return;
    }
    if (isCrossSite(request.headers.origin, request.headers["sec-fetch-site"], host)) {
      sendControlError(
        response,
        403,
        "foreign_origin",
        "The control plane does not answer to pages of other origins.",
      );
      return;
    }
    if (token !== undefined && !bearsToken(request.headers.authorization, token)) {
      response.set("WWW-Authenticate", 'Bearer realm="svc-sandbox control plane"');
      sendControlError(
        response,
        401,
        "control_token_required",
        "Send the control token that was printed at the start: Authorization: Bearer <token>.",
      );
      return;
    }
    next();
  };
}

function isCrossSite(
  origin: string | undefined,
  fetchSite: string | string[] | undefined,
  host: string,
): boolean {
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) return true;
  return fetchSite === "cross-site" || fetchSite === "same-site";
}

// Hashes have one length, so that the comparison takes the same time for every wrong token.
function bearsToken(authorization: string | undefined, token: string): boolean {
  const given = /^Bearer (.+)$/i.exec(authorization ?? "")?.[1];
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
