import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import project from "../../package.json" with { type: "json" };
import { serveControl } from "../control/client.js";
import { exchange } from "../support/exchange.js";
import { root } from "../support/pages.js";

// The documentation, as the control plane of the built package serves it.

const start = "/__sandbox/docs/README";

interface ServedPage {
  readonly text: string;
  readonly anchors: ReadonlySet<string>;
  /** The addresses of its links, pictures and style sheets, as they are written. */
  readonly links: readonly string[];
}

/** Reads pages and files of a server by their paths, each once. */
async function pagesOf() {
  const { server } = await serveControl({ host: "0.0.0.0", controlToken: "a-token-of-the-test" });
  const pages = new Map<string, Promise<ServedPage>>();
  const read = async (path: string): Promise<ServedPage> => {
    const { status, headers, bytes } = await exchange(server.url, { path });
    expect([path, status]).toEqual([path, 200]);
    expect(headers["content-security-policy"]).toContain("default-src 'none'");
    const text = headers["content-type"]?.startsWith("text/html") ? String(bytes) : "";
    const valuesOf = (name: string) =>
      [...text.matchAll(new RegExp(`<[^>]* ${name}="([^"]*)"`, "g"))].map(([, value = ""]) => value);
    return { text, anchors: new Set(valuesOf("id")), links: [...valuesOf("href"), ...valuesOf("src")] };
  };
  return (path: string) => {
    const page = pages.get(path) ?? read(path);
    pages.set(path, page);
    return page;
  };
}

test("from the first page every other one is reached without a token, and each link leads to a page and to an anchor of it", async () => {
  const pageAt = await pagesOf();
  const reached = new Set([start]);
  const dead: string[] = [];
  for (const path of reached) {
    for (const link of (await pageAt(path)).links) {
      // Below the prefix of a proxy, only relative ones lead to this server.
      expect(link).not.toMatch(/^\/|^http:/);
      if (link.startsWith("https:")) continue;
      const { pathname, hash } = new URL(link, `http://sandbox.test${path}`);
      const { anchors } = await pageAt(pathname);
      if (hash !== "" && !anchors.has(hash.slice(1))) dead.push(`${path}: ${link}`);
      if (/^\/__sandbox\/docs\/[\w-]+$/.test(pathname)) reached.add(pathname);
    }
  }
  const written = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
  const names = [...written.map((name) => name.replace(".md", "")), "first-steps"];
  expect([...reached].sort()).toEqual(names.map((name) => `/__sandbox/docs/${name}`).sort());
  expect(dead).toEqual([]);
});

test("a page leads to nothing of the repository, which may be elsewhere, and has no script", async () => {
  const pageAt = await pagesOf();
  const { links } = await pageAt(start);
  const names = links.filter((link) => /^[\w-]+$/.test(link));
  expect(names.length).toBeGreaterThan(10);
  for (const name of new Set(names)) {
    const { text, links } = await pageAt(`/__sandbox/docs/${name}`);
    expect([name, links.filter((link) => link.startsWith(project.homepage.replace(/#.*/, "")))]).toEqual([
      name,
      [],
    ]);
    expect(text).not.toMatch(/<script|<!--| on\w+="|javascript:/);
  }
});

test("each place that the dashboard links to is there", async () => {
  const pageAt = await pagesOf();
  const folder = join(root, "src/dashboard");
  const texts = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".tsx"))
    .map((file) => readFileSync(join(folder, file), "utf8"));
  const links = texts.flatMap((text) =>
    [...text.matchAll(/<DocsLink to="([^"]+)"/g)].map(([, to = ""]) => to),
  );
  expect(links.length).toBeGreaterThan(5);
  for (const link of links) {
    const [page, anchor] = link.split("#");
    const { anchors } = await pageAt(`/__sandbox/docs/${page}`);
    expect([link, anchor === undefined || anchors.has(anchor)]).toEqual([link, true]);
  }
});

test("the description of the control plane is served, and a page links to it", async () => {
  const { ask } = await serveControl();
  const { status, body } = await ask("/docs/control-plane.openapi.json");
  expect([status, body.openapi, body.paths["/keys"].post.summary]).toEqual([
    200,
    "3.1.0",
    expect.any(String),
  ]);
});

test("a page that does not exist is a page for people, with links to all", async () => {
  const { server } = await serveControl();
  const headers = { accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" };
  const { status, bytes } = await exchange(server.url, { path: "/__sandbox/docs/gone", headers });
  const text = String(bytes);
  expect(status).toBe(404);
  expect(text).toContain("There is no such page");
  const [, list = ""] = text.split("<main");
  for (const name of ["first-steps", "coverage", "control-plane", "agents"]) {
    expect(list).toContain(`<a href="${name}">`);
  }
});

test("the first item of the list is a page: the README", async () => {
  const pageAt = await pagesOf();
  const { text } = await pageAt(start);
  expect(text).toContain('<a href="first-steps">First steps</a>');
  expect((await pageAt("/__sandbox/docs/first-steps")).anchors).toContain("in-your-project");
});

test("the folder leads to the first page, also below a prefix, and what is no page is an error", async () => {
  const { ask, server } = await serveControl();
  for (const [path, location] of [
    ["/docs", "./docs/README"],
    ["/docs/", "./README"],
    ["/docs/coverage/", "../coverage"],
    ["/docs/coverage.md", "./coverage"],
  ]) {
    const { status, headers } = await exchange(server.url, { path: `/__sandbox${path}` });
    expect([status, headers.location]).toEqual([308, location]);
  }
  for (const page of ["gone", "constructor", "gone.webp", "..%2fpackage.json", "%2e%2e", "a/b"]) {
    const { status, body } = await ask(`/docs/${page}`);
    expect([page, status, body.error.code]).toEqual([page, 404, "not_found"]);
  }
  expect((await ask("/docs/README", { method: "POST", json: {} })).status).toBe(405);
});
