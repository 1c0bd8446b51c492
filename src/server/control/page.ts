import { extname } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress, gzip } from "node:zlib";
import type { Request, RequestHandler, Response } from "express";
import { isMachineLimit } from "../../node/files/write-file.js";
import { packageFile } from "../../node/package-files.js";
import { SandboxError } from "../../rules/errors.js";
import { controlPath } from "../../rules/known-paths.js";
import { redactPath } from "../../rules/redact-path.js";
import { controlRoute, type Route } from "./route.js";

const pages = "dist/dashboard/";
const assets = `${pages}assets/`;
const assetPattern = new RegExp(`^${controlPath}/assets/(\\w[\\w-]*(?:\\.[\\w-]+)+)$`);

/** Other addresses of the documentation and its pages, with the right ones. These are relative, as a proxy may add a prefix. */
const redirects: readonly (readonly [address: RegExp, target: string])[] = [
  [new RegExp(`^${controlPath}/docs$`), "./docs/README"],
  [new RegExp(`^${controlPath}/docs/$`), "./README"],
  // A page as a folder, and as the file in the repository.
  [new RegExp(`^${controlPath}/docs/([\\w-]+)/$`), "../$1"],
  [new RegExp(`^${controlPath}/docs/([\\w-]+)\\.md$`), "./$1"],
];

/** The page in place of one that does not exist. */
const notFoundPage = "not-found";

/** Bodies with fewer bytes fit into one packet uncompressed. */
const fewestBytes = 1400;

const toGzip = promisify(gzip);
const fromBrotli = promisify(brotliDecompress);

// The content security policy of pages. Allows only files and requests of the same server, and no framing.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const pageRoute: Route = controlRoute("GET /", {
  summary: "The dashboard, a page for browsers",
  async run(_context, { request, response }) {
    // A proxy may add a prefix, so the address is relative.
    if (!request.path.endsWith("/")) {
      response.redirect(308, `.${controlPath}/`);
      return;
    }
    const file = "index.html";
    const content = await readOrNotFound(packageFile(pages + file), file);
    setFileHeaders(response, file);
    await sendCompressed(request, response, content);
  },
});

export const docsRoute: Route = controlRoute("GET /docs/{page}", {
  summary: "The documentation, as pages for browsers: `README` lists them",
  async run({ params }, { request, response }) {
    const { page } = params;
    const isPicture = /^\w+\.(?:svg|webp)$/.test(page);
    if (isPicture) {
      const picture = await readOrNotFound(packageFile(`docs/images/${page}`), page);
      setFileHeaders(response, page);
      response.send(picture);
      return;
    }

    const pagesByName = await makeOnce("docs", readDocs);
    let text = pagesByName.get(page);
    if (text === undefined) {
      // Programs get the error as JSON, people a page with a list of all.
      const isForPeople = request.accepts(["json", "html"]) === "html";
      text = isForPeople ? pagesByName.get(notFoundPage) : undefined;
      if (text === undefined) throw unknownFile(page);
      response.status(404);
    }
    setFileHeaders(response, page === "docs.css" ? page : "page.html");
    await sendCompressed(request, response, Buffer.from(text));
  },
});

/** The pages by name, with their style sheet. The build has made them. */
async function readDocs(): Promise<ReadonlyMap<string, string>> {
  const packed = await packageFile("dist/docs.json.br");
  const json = String(await fromBrotli(packed));
  return new Map<string, string>(Object.entries(JSON.parse(json)));
}

/** Serves the files of the page, and redirects to the pages of the documentation. */
export const servePageFiles: RequestHandler = (request, response, next) => {
  const { path, method } = request;
  if (method !== "GET" && method !== "HEAD") {
    next();
    return;
  }

  const [, file] = assetPattern.exec(path) ?? [];
  if (file !== undefined) {
    sendAsset(request, response, file).catch(next);
    return;
  }

  for (const [address, target] of redirects) {
    if (!address.test(path)) continue;
    response.redirect(308, path.replace(address, target));
    return;
  }
  next();
};

/** Sends a file of the page as the build has compressed it, if the browser accepts that. */
async function sendAsset(request: Request, response: Response, file: string): Promise<void> {
  // Browsers accept Brotli only on this machine or with TLS.
  const encoding = (["br", "gzip"] as const).find((one) => request.acceptsEncodings(one));
  const content = await readOrNotFound(readAsset(file, encoding), file);
  if (encoding) response.set("Content-Encoding", encoding);
  setFileHeaders(response, file);
  // Other content has another name.
  response.set("Cache-Control", "max-age=31536000, immutable").send(content);
}

/** Sets the headers of a file by its extension. */
function setFileHeaders(response: Response, file: string): void {
  response.set("Content-Security-Policy", policy).set("Referrer-Policy", "no-referrer");
  response.type(extname(file)).vary("Accept-Encoding");
}

/** A file that cannot be read is unknown, unless the machine is to blame. */
async function readOrNotFound(read: Promise<Buffer>, file: string): Promise<Buffer> {
  try {
    return await read;
  } catch (error) {
    if (isMachineLimit(error)) throw error;
    throw unknownFile(file);
  }
}

function unknownFile(file: string): SandboxError {
  return new SandboxError("not_found", `Unknown page or file ${redactPath(file)}.`);
}

/** What is made of files, by name: many requests share one copy. Not `cachedByName`, which would keep a failure. */
const contents = new Map<string, Promise<unknown>>();

/** Makes a content, or returns the one that is made already. */
function makeOnce<Content>(name: string, make: () => Promise<Content>): Promise<Content> {
  const earlier = contents.get(name) as Promise<Content> | undefined; // each name has one type
  if (earlier !== undefined) return earlier;

  const content = make();
  contents.set(name, content);
  // An unknown file must not use memory, and one that could not be read is tried again.
  content.catch(() => contents.delete(name));
  return content;
}

/** Reads a file of the page in an encoding; `undefined`: as it is. The build has compressed it with Brotli. */
function readAsset(file: string, encoding: "br" | "gzip" | undefined): Promise<Buffer> {
  return makeOnce(`${encoding} ${file}`, async () => {
    const packed = await packageFile(`${assets}${file}.br`);
    if (encoding === "br") return packed;
    const plain = await fromBrotli(packed);
    return encoding === "gzip" ? toGzip(plain) : plain;
  });
}

/**
 * Sends a body whose type is set, compressed if it is long and the client accepts that. Only of a GET or HEAD, which have no
 * secrets: the length of a compressed body can tell about a secret in it.
 */
export async function sendCompressed(request: Request, response: Response, body: Buffer): Promise<void> {
  const hasNoSecret = request.method === "GET" || request.method === "HEAD";
  const isWorthIt = hasNoSecret && body.length >= fewestBytes;
  if (!isWorthIt || !request.acceptsEncodings("gzip")) {
    response.send(body);
    return;
  }
  // Also for a HEAD, which has the length of the GET.
  response.set("Content-Encoding", "gzip").send(await toGzip(body));
}
