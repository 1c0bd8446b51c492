import { promisify } from "node:util";
import { brotliDecompress, gzip } from "node:zlib";
import type { Request, Response } from "express";

const gzipped = promisify(gzip);
const decompressed = promisify(brotliDecompress);

/** Shorter bodies fit into one packet uncompressed. */
const fewestBytes = 1400;

/** Sends a body whose type is set. Compresses it if it is long, the client accepts that, and it cannot contain a secret. */
export async function sendCompressed(request: Request, response: Response, body: Buffer): Promise<void> {
  const isWorthIt = request.method === "GET" && body.length >= fewestBytes;
  if (!isWorthIt || !request.acceptsEncodings("gzip")) return void response.send(body);
  response.set("Content-Encoding", "gzip").send(await gzipped(body));
}

/** Sends a file that is stored with Brotli, which browsers accept only on this machine or with TLS. */
export async function sendBrotli(request: Request, response: Response, file: Buffer): Promise<void> {
  if (!request.acceptsEncodings("br")) return sendCompressed(request, response, await decompressed(file));
  response.set("Content-Encoding", "br").send(file);
}
