import type { RequestHandler } from "express";
import { packageFile } from "../../node/package-files.js";
import { controlPath } from "../../rules/known-paths.js";
import { contentOrNotFound, readDocs, unknownFile } from "./page-files.js";
import type { Route } from "./route.js";
import { controlRoute } from "./route-rows.js";

// The pages for browsers: the dashboard, and the documentation.

/** The name of the page in place of one that does not exist. */
const notFoundPage = "not-found";

export const pageRoute: Route = controlRoute("GET /", {
  summary: "The dashboard, a page for browsers",
  async run(_context, { request }) {
    // A proxy may add a prefix, so the address is relative.
    if (!request.path.endsWith("/")) return { kind: "redirect", to: `.${controlPath}/` };
    const content = await contentOrNotFound("index.html", packageFile("dist/dashboard/index.html"));
    return { kind: "page", status: 200, type: "html", text: String(content) };
  },
});

export const docsRoute: Route = controlRoute("GET /docs/{page}", {
  summary: "The documentation, as pages for browsers: `README` lists them",
  async run({ params }, { request }) {
    const { page } = params;
    const isPicture = /^\w+\.(?:svg|webp)$/.test(page);
    if (isPicture) {
      const content = await contentOrNotFound(page, packageFile(`docs/images/${page}`));
      return { kind: "picture", file: page, content };
    }

    const docs = await readDocs();
    const text = page === notFoundPage ? undefined : docs.get(page);
    if (text !== undefined) {
      return { kind: "page", status: 200, type: page === "docs.css" ? "css" : "html", text };
    }

    // Programs get the error as JSON, people a page with a list of all.
    const listOfAll = docs.get(notFoundPage);
    const isForPeople = request.accepts(["json", "html"]) === "html";
    if (listOfAll === undefined || !isForPeople) throw unknownFile(page);
    return { kind: "page", status: 404, type: "html", text: listOfAll };
  },
});

/** Other addresses of the documentation and its pages, with the right ones. These are relative, as a proxy may add a prefix. */
const redirects: readonly (readonly [address: RegExp, target: string])[] = [
  [new RegExp(`^${controlPath}/docs$`), "./docs/README"],
  [new RegExp(`^${controlPath}/docs/$`), "./README"],
  // A page as a folder, and as the file in the repository.
  [new RegExp(`^${controlPath}/docs/([\\w-]+)/$`), "../$1"],
  [new RegExp(`^${controlPath}/docs/([\\w-]+)\\.md$`), "./$1"],
];

/** Redirects from other addresses of the documentation, before Express finds a route for them. */
export const redirectToDocs: RequestHandler = (request, response, next) => {
  const { path, method } = request;
  const isRead = method === "GET" || method === "HEAD";
  const redirect = redirects.find(([address]) => address.test(path));
  if (redirect === undefined || !isRead) {
    next();
    return;
  }
  const [address, target] = redirect;
  response.redirect(308, path.replace(address, target));
};
