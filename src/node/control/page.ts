import type { RequestHandler, Response } from "express";
import { SandboxError } from "../../domain/errors.js";
import { redactPath } from "../../domain/redact.js";
import { dashboardFolder } from "../package-files.js";
import { controlPath } from "../server/read-request.js";
import { type Route, route } from "./route.js";

const assetsPath = `${controlPath}/assets/`;

/** Whether a path is one of the page, which needs no token: it holds nothing of the sandbox, and asks for the token. */
export function isPagePath(path: string): boolean {
  return path === controlPath || path === `${controlPath}/` || path.startsWith(assetsPath);
}

// Only the page's own files run and are shown, only its own server is asked, and no page frames it.
const policy = [
  "default-src 'none'",
  ...["script-src", "style-src", "img-src", "connect-src"].map((kind) => `${kind} 'self'`),
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The dashboard, a page that uses the control plane. */
export const pageRoute: Route = route("GET /", {
  summary: "The dashboard, a page for browsers",
  answer: { type: "string" },
  types: ["text/html"],
  isLocal: true,
  run(_context, { request, response }) {
    // Its files are named relative to it, as an instance's page stands elsewhere.
    if (!request.path.endsWith("/")) return response.redirect(308, `.${controlPath}/`);
    response.set("Content-Security-Policy", policy).set("Referrer-Policy", "no-referrer");
    return sendPageFile(response, "index.html");
  },
});

/** Serves the files of the page; passes on any other path. */
export const serveAssets: RequestHandler = ({ path, method }, response, next) => {
  const file = path.startsWith(assetsPath) ? path.slice(assetsPath.length) : "";
  if (method !== "GET" || !/^[\w-]+(?:\.[\w-]+)+$/.test(file)) next();
  else sendPageFile(response, `assets/${file}`).catch(next);
};

function sendPageFile(response: Response, file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    response.sendFile(file, { root: dashboardFolder, cacheControl: false }, (error) => {
      if (error === undefined || response.headersSent) resolve();
      else reject(new SandboxError("not_found", `The dashboard has no file ${redactPath(file)}.`));
    });
  });
}
