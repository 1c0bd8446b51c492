import { extname } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress, gzip } from "node:zlib";
import type { Request, RequestHandler, Response } from "express";
import { isOfMachine } from "../../node/files/write-file.js";
import { packageFile } from "../../node/package-files.js";
import { SandboxError } from "../../rules/errors.js";
import { controlPath, redactPath } from "../../rules/request-path.js";
import { controlRoute, type Route } from "./route.js";

const pages = "dist/dashboard/";
const assets = `${pages}assets/`;
const assetPattern = new RegExp(`^${controlPath}/assets/(\\w[\\w-]*(?:\\.[\\w-]+)+)$`);

// Allows only files and requests of the same server, and no framing.
const policy = [
  "default-src 'none'",
  ...["script-src", "style-src", "img-src", "connect-src"].map((kind) => `${kind} 'self'`),
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const pageRoute: Route = controlRoute("GET /", {
  summary: "The dashboard, a page for browsers",
  async run(_context, { request, response }) {
    // A proxy may add a prefix, so the address is relative.
    if (!request.path.endsWith("/")) return response.redirect(308, `.${controlPath}/`);
    const file = "index.html";
    const content = await orNotFound(packageFile(pages + file), file);
    return sendCompressed(request, withFileHeaders(response, file), content);
  },
});

export const docsRoute: Route = controlRoute("GET /docs/{page}", {
  summary: "The documentation, as pages for browsers: `README` lists them",
  async run({ params: { page = "" } }, { request, response }) {
    const file = page.includes(".") ? page : `${page}.html`;
    if (/^\w+\.webp$/.test(page)) {
      const picture = await orNotFound(packageFile(`docs/images/${page}`), page);
      return withFileHeaders(response, file).send(picture);
    }
    const text = (await docs()).get(page);
    if (text === undefined) throw unknownFile(page);
    return sendCompressed(request, withFileHeaders(response, file), Buffer.from(text));
  },
});

/** The pages by name, with their style sheet. The build has made them. */
const docs = () =>
  madeOnce("docs", async () => {
    const packed = await packageFile("dist/docs.json.br");
    return new Map<string, string>(Object.entries(JSON.parse(String(await decompressed(packed)))));
  });

const docsStart = new RegExp(`^${controlPath}/docs(/?)$`);

export const servePageFiles: RequestHandler = (request, response, next) => {
  const { path, method } = request;
  const [, file] = assetPattern.exec(path) ?? [];
  const [, slash] = docsStart.exec(path) ?? [];
  if (method !== "GET" && method !== "HEAD") next();
  else if (file !== undefined) sendAsset(request, response, file).catch(next);
  else if (slash !== undefined) response.redirect(308, slash === "" ? "./docs/README" : "./README");
  else next();
};

async function sendAsset(request: Request, response: Response, file: string): Promise<void> {
  // Browsers accept Brotli only on this machine or with TLS.
  const encoding = (["br", "gzip"] as const).find((one) => request.acceptsEncodings(one));
  const content = await orNotFound(assetIn(encoding, file), file);
  if (encoding) response.set("Content-Encoding", encoding);
  // Other content has another name.
  withFileHeaders(response, file).set("Cache-Control", "max-age=31536000, immutable").send(content);
}

function withFileHeaders(response: Response, file: string): Response {
  response.set("Content-Security-Policy", policy).set("Referrer-Policy", "no-referrer");
  return response.type(extname(file)).vary("Accept-Encoding");
}

function orNotFound(read: Promise<Buffer>, file: string): Promise<Buffer> {
  return read.catch((error) => {
    throw isOfMachine(error) ? error : unknownFile(file);
  });
}

const unknownFile = (file: string) =>
  new SandboxError("not_found", `Unknown page or file ${redactPath(file)}.`);

const gzipped = promisify(gzip);
const decompressed = promisify(brotliDecompress);

/** What is made of files, by name: many requests share one copy. Not `cachedByName`: a failure leaves it. */
const made = new Map<string, Promise<unknown>>();

function madeOnce<Content>(name: string, make: () => Promise<Content>): Promise<Content> {
  const content = (made.get(name) ?? make()) as Promise<Content>; // each name has one type
  made.set(name, content);
  // An unknown file must not use memory, and one that could not be read is tried again.
  content.catch(() => made.delete(name));
  return content;
}

function assetIn(encoding: "br" | "gzip" | undefined, file: string): Promise<Buffer> {
  return madeOnce(`${encoding} ${file}`, async () => {
    const packed = await packageFile(`${assets}${file}.br`);
    if (encoding === "br") return packed;
    const plain = await decompressed(packed);
    return encoding === "gzip" ? gzipped(plain) : plain;
  });
}

/** Shorter bodies fit into one packet uncompressed. */
const fewestBytes = 1400;

/** Sends a body whose type is set. Compresses it if it is long, the client accepts that, and it cannot contain a secret. */
export async function sendCompressed(request: Request, response: Response, body: Buffer): Promise<void> {
  const isWorthIt = request.method === "GET" && body.length >= fewestBytes;
  if (!isWorthIt || !request.acceptsEncodings("gzip")) return void response.send(body);
  response.set("Content-Encoding", "gzip").send(await gzipped(body));
}
