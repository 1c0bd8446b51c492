import { extname } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress, gzip } from "node:zlib";
import type { Request, RequestHandler, Response } from "express";
import { isMachineLimit } from "../../node/files/write-file.js";
import { packageFile } from "../../node/package-files.js";
import { SandboxError } from "../../rules/errors.js";
import { redactPath } from "../../rules/keys/redact.js";
import { controlPath } from "../../rules/paths.js";
import { hasReadingMethod } from "./access.js";
import { controlRoute, type Route } from "./route.js";

// The pages for browsers: the dashboard, and the documentation.

/** The name of the page in place of one that does not exist. */
const notFoundPage = "not-found";

const pageRoute: Route = controlRoute("GET /", {
  summary: "The dashboard, a page for browsers",
  async run({ request }) {
    // A proxy may add a prefix, so the address is relative.
    if (!request.path.endsWith("/")) return { kind: "redirect", to: `.${controlPath}/` };
    const content = await contentOrNotFound("index.html", packageFile("dist/dashboard/index.html"));
    return { kind: "page", status: 200, type: "html", content };
  },
});

const docsRoute: Route = controlRoute("GET /docs/{page}", {
  summary: "The documentation, as pages for browsers: `README` lists them",
  async run({ params, request }) {
    const { page } = params;
    const isPicture = /^\w+\.(?:svg|webp)$/.test(page);
    if (isPicture) {
      const content = await contentOrNotFound(page, packageFile(`docs/images/${page}`));
      return { kind: "page", status: 200, type: extname(page), content };
    }

    const docs = await readDocs();
    const content = page === notFoundPage ? undefined : docs.get(page);
    if (content !== undefined) return { kind: "page", status: 200, type: extname(page) || "html", content };

    // Programs get the error as JSON, people a page with a list of all.
    const listOfAll = docs.get(notFoundPage);
    const isForPeople = request.accepts(["json", "html"]) === "html";
    if (listOfAll === undefined || !isForPeople) throw unknownFile(page);
    return { kind: "page", status: 404, type: "html", content: listOfAll };
  },
});

export const pageRoutes: readonly Route[] = [pageRoute, docsRoute];

/** Other addresses of the documentation and its pages, with the right ones. These are relative, as a proxy may add a prefix. */
const redirects: readonly (readonly [address: RegExp, target: string])[] = [
  [new RegExp(`^${controlPath}/docs$`), "./docs/README"],
  [new RegExp(`^${controlPath}/docs/$`), "./README"],
  // A page as a folder, and as the file in the repository.
  [new RegExp(`^${controlPath}/docs/([\\w-]+)/$`), "../$1"],
  [new RegExp(`^${controlPath}/docs/([\\w-]+)\\.md$`), "./$1"],
];

/** Redirects from other addresses of the documentation, before Express finds a route for them. */
const redirectToDocs: RequestHandler = (request, response, next) => {
  const { path } = request;
  const redirect = redirects.find(([address]) => address.test(path));
  if (redirect === undefined || !hasReadingMethod(request)) {
    next();
    return;
  }
  const [address, target] = redirect;
  response.redirect(308, path.replace(address, target));
};

const assetPattern = new RegExp(`^${controlPath}/assets/(\\w[\\w-]*(?:\\.[\\w-]+)+)$`);

export const toGzip = promisify(gzip);
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

/** Sets the headers of what a browser shows. `extension`: that of its file, such as `html`. */
export function setPageHeaders(response: Response, extension: string): void {
  response.set("Content-Security-Policy", policy).set("Referrer-Policy", "no-referrer");
  response.type(extension).vary("Accept-Encoding");
}

/** Serves the files that the dashboard loads. */
const serveAssets: RequestHandler = (request, response, next) => {
  const [, file] = assetPattern.exec(request.path) ?? [];
  if (file === undefined || !hasReadingMethod(request)) next();
  else sendAsset(request, response, file).catch(next);
};

/** What responds before the routes: files of the dashboard, and other addresses of the documentation. */
export const pageHandlers: readonly RequestHandler[] = [serveAssets, redirectToDocs];

/** Sends a file of the dashboard as the build has compressed it, if the browser accepts that. */
async function sendAsset(request: Request, response: Response, file: string): Promise<void> {
  // Browsers accept Brotli only on this machine or with TLS.
  const encodings = ["br", "gzip"] as const;
  const encoding = encodings.find((accepted) => request.acceptsEncodings(accepted)) ?? "identity";
  const reading = sharedContent(`${encoding} ${file}`, async () => {
    // The build has compressed it with Brotli.
    const packed = await packageFile(`dist/dashboard/assets/${file}.br`);
    if (encoding === "br") return packed;
    const plain = await fromBrotli(packed);
    return encoding === "gzip" ? toGzip(plain) : plain;
  });
  const content = await contentOrNotFound(file, reading);
  if (encoding !== "identity") response.set("Content-Encoding", encoding);
  setPageHeaders(response, extname(file));
  // Other content has another name.
  response.set("Cache-Control", "max-age=31536000, immutable").send(content);
}

/** The pages of the documentation by name, with their style sheet. The build has made them. */
function readDocs(): Promise<ReadonlyMap<string, string>> {
  return sharedContent("docs", async () => {
    const packed = await packageFile("dist/docs.json.br");
    const json = String(await fromBrotli(packed));
    return new Map<string, string>(Object.entries(JSON.parse(json)));
  });
}

/** What is made of files, by name: many requests share one copy. Not `cachedByName`, which would keep a failure. */
const contents = new Map<string, Promise<unknown>>();

/** Makes a content, or returns the one that is made already. */
function sharedContent<Content>(name: string, make: () => Promise<Content>): Promise<Content> {
  const earlier = contents.get(name) as Promise<Content> | undefined; // each name has one type
  if (earlier !== undefined) return earlier;

  const content = make();
  contents.set(name, content);
  // An unknown file must not use memory, and one that could not be read is tried again.
  content.catch(() => contents.delete(name));
  return content;
}

/** The content of a file. One that cannot be read is unknown, unless the machine is to blame. */
async function contentOrNotFound(file: string, reading: Promise<Buffer>): Promise<Buffer> {
  try {
    return await reading;
  } catch (error) {
    if (isMachineLimit(error)) throw error;
    throw unknownFile(file);
  }
}

/** The error of a page or a file that does not exist. */
function unknownFile(file: string): SandboxError {
  return new SandboxError("not_found", `Unknown page or file ${redactPath(file)}.`);
}
