import { expect, test } from "vitest";
import { serveControl } from "./control/client.js";
import { description, type Operation } from "./control/described.js";
import { writesFor } from "./control/writes.js";

const operations = Object.entries(description.paths).flatMap(([path, verbs]) =>
  Object.entries(verbs).map(([verb, operation]) => ({ path, verb, operation })),
);

/** Everything in a value that has this name. */
function membersNamed(name: string, value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    ...(key === name ? [member] : []),
    ...membersNamed(name, member),
  ]);
}

function resolvePointer(pointer: string): unknown {
  return pointer
    .replace(/^#\//, "")
    .split("/")
    .reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], description);
}

test("the description is OpenAPI 3.1.0 with the version of the package, and is served as it is", async () => {
  const { ask } = await serveControl();
  const { body } = await ask("/control.openapi.json");
  expect(body).toEqual(JSON.parse(JSON.stringify(description)));
  expect(body.openapi).toBe("3.1.0");
  for (const { url } of description.servers) expect(url).toMatch(/^[\w:/.-]+$/);
  expect(body.info).toEqual({
    title: expect.any(String),
    version: (await ask("/health")).body.version,
    description: expect.any(String),
  });
});

test("every reference leads somewhere, and every named part is used", () => {
  const references = membersNamed("$ref", description) as string[];
  expect(references.length).toBeGreaterThan(20);
  expect(references.filter((one) => resolvePointer(one) === undefined)).toEqual([]);
  const named = Object.keys(description.components.schemas).map((name) => `#/components/schemas/${name}`);
  expect(named.filter((one) => !references.includes(one))).toEqual([]);
});

test.each(operations)("$verb $path is described as OpenAPI asks", ({ path, verb, operation }) => {
  expect(["get", "post", "put", "patch", "delete"]).toContain(verb);
  expect(operation.summary).toMatch(/^[A-Z]/);
  const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
  expect(inPath.map(({ name }) => name)).toEqual(
    [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string),
  );
  for (const parameter of inPath) expect(parameter).toMatchObject({ required: true, schema: {} });
  for (const [status, response] of Object.entries(operation.responses)) {
    expect(status).toMatch(/^(?:2\d\d|default)$/);
    expect(response).toMatchObject({
      description: expect.stringMatching(/^[A-Z]/),
    });
  }
  expect(Object.keys(operation.responses)).toContain("default");
});

test("every write says who may act, and takes exactly the bodies that are described", () => {
  const writes = operations.filter(({ verb }) => verb !== "get");
  const plain = writes.filter(({ operation }) => !("x-preview" in operation));
  expect(plain.map(({ verb, path }) => `${verb.toUpperCase()} ${path}`).sort()).toEqual(
    [...new Set(writesFor("").map(({ method, described }) => `${method} /__sandbox${described}`))].sort(),
  );
  for (const { operation } of writes) {
    expect((operation.parameters ?? []).map(({ name }) => name)).toContain("X-Sandbox-Actor");
  }
});

test("every described path is there, and no other is", async () => {
  const { ask } = await serveControl();
  const { id } = (await ask("/instances", { method: "POST" })).body.data;
  const real = (path: string) =>
    path
      .replace("/__sandbox", "")
      .replace(/organizations\/\{ref\}/, "organizations/harvest-bank")
      .replace("{ref}", "active")
      .replace("{id}", id);
  const verbs = (path: string) => Object.keys(description.paths[path] as Record<string, Operation>);
  for (const path of Object.keys(description.paths)) {
    // What there is says of itself which methods it takes.
    const { status, headers } = await ask(real(path), { method: "OPTIONS" });
    const allowed = verbs(path).flatMap((verb) => (verb === "get" ? ["GET", "HEAD"] : verb.toUpperCase()));
    expect([path, status, headers.allow]).toEqual([path, 405, allowed.join(", ")]);
  }
  for (const path of ["/nothing", "/key", "/keys/active/renew", "/health/x", "/i", "/Keys", "//keys"]) {
    expect([path, (await ask(path)).status]).toEqual([path, 404]);
  }
});

test("the page links to all there is to see, and each link leads there, in an instance as well", async () => {
  const { ask } = await serveControl();
  const { id } = (await ask("/instances", { method: "POST" })).body.data;
  const seen = operations
    .filter(({ verb, path }) => verb === "get" && !path.includes("{"))
    // Of the preview there is nothing to see here.
    .filter(({ operation }) => !("x-preview" in operation))
    .map(({ path }) => path.replace("/__sandbox", ""))
    .filter((path) => path !== "/");
  for (const base of ["", `/i/${id}`]) {
    for (const path of ["", "/"]) {
      const { text } = await ask(path, { base });
      const links = [...text.matchAll(/href="([^"]+)"/g)].map(
        ([, href]) => new URL(href as string, `http://sandbox${base}/__sandbox${path}`).pathname,
      );
      const expected = seen
        .filter((one) => base === "" || one !== "/instances")
        .map((one) => `${base}/__sandbox${one}`);
      expect(links.sort()).toEqual(expected.sort());
      for (const link of links) {
        const asking = { base, method: "HEAD" };
        expect((await ask(link.slice(base.length + "/__sandbox".length), asking)).status).toBe(200);
      }
    }
  }
});
