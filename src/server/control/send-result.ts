import { extname } from "node:path";
import type { Request, Response } from "express";
import { setPageHeaders, toGzip } from "./page-files.js";
import type { RouteResult } from "./route-result.js";

/** Bodies with fewer bytes fit into one packet uncompressed. */
const fewestBytes = 1400;

/** Sends the response of a route. */
export async function sendResult(result: RouteResult, request: Request, response: Response): Promise<void> {
  const { kind } = result;
  switch (kind) {
    case "json":
      response.status(result.status).type("json");
      await sendCompressed(request, response, JSON.stringify(result.json));
      return;
    case "text":
      response.type(result.type);
      await sendCompressed(request, response, result.text);
      return;
    case "page":
      response.status(result.status);
      setPageHeaders(response, result.type);
      await sendCompressed(request, response, result.text);
      return;
    case "picture":
      setPageHeaders(response, extname(result.file));
      response.send(result.content);
      return;
    case "redirect":
      response.redirect(308, result.to);
      return;
    case "nothing":
      response.status(204).end();
      return;
    default:
      kind satisfies never;
  }
}

/**
 * Sends a body whose type is set, compressed if it is long and the client accepts that. Only of a GET or HEAD, which have no
 * secrets: the length of a compressed body can tell about a secret in it.
 */
async function sendCompressed(request: Request, response: Response, text: string): Promise<void> {
  const body = Buffer.from(text);
  const hasNoSecret = request.method === "GET" || request.method === "HEAD";
  const isWorthIt = hasNoSecret && body.length >= fewestBytes;
  if (!isWorthIt || !request.acceptsEncodings("gzip")) {
    response.send(body);
    return;
  }
  // Also for a HEAD, which has the length of the GET.
  response.set("Content-Encoding", "gzip").send(await toGzip(body));
}
