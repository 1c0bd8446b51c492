import { expect, test } from "vitest";
import { serveControl } from "./client.js";
import { description } from "./described.js";
import { acceptedWrites } from "./writes.js";

const operations = Object.entries(description.paths).flatMap(([path, verbs]) =>
  Object.entries(verbs).map(([verb, operation]) => ({ path, verb, operation })),
);

test("R48 both descriptions are served: OpenAPI 3.1.0 with the version of the API, and of the package", async () => {
  const { ask } = await serveControl();
  const { version } = (await ask("/health")).body;
  const api = { openapi: "3.1.0", info: { version: "0.1.0" } };
  expect((await ask("/openapi.json")).body).toMatchObject(api);
  const { body } = await ask("/control.openapi.json");
  expect(body).toEqual(JSON.parse(JSON.stringify(description)));
  expect(body).toMatchObject({ openapi: "3.1.0", info: { version }, servers: [{ url: "/" }] });
});

test("every reference leads to a named part, and every named part is used", () => {
  const references = [...JSON.stringify(description).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
  const used = new Set(references.map(([, name]) => name));
  expect([...used].sort()).toEqual(Object.keys(description.components.schemas).sort());
});

test("linters and generators find a license, a name for each operation, and no keyword of editors", () => {
  expect(description).toMatchObject({ info: { license: { identifier: "MIT" } } });
  const names = operations.map(({ operation }) => operation.operationId);
  expect(new Set(names).size).toBe(operations.length);
  for (const name of names) expect(name).toMatch(/^(?:get|post|put|patch|delete)[A-Z]\w*$/);
  expect(JSON.stringify(description)).not.toContain("doNotSuggest");
});

test("each enumeration has a type, from which other languages make theirs", () => {
  const untyped: unknown[] = [];
  JSON.stringify(description, (_name, value) => {
    if (Array.isArray(value?.enum) && value.type === undefined) untyped.push(value.enum);
    return value;
  });
  expect(untyped).toEqual([]);
});

test.each(operations)(
  "$verb $path has a summary, its parameters and a default response",
  ({ path, operation: { summary, parameters = [], responses } }) => {
    expect(summary).toMatch(/^[A-Z]/);
    const inPath = parameters.filter((parameter) => parameter.in === "path");
    expect(inPath.map(({ name }) => name)).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    for (const parameter of inPath) expect(parameter).toMatchObject({ required: true, schema: {} });
    expect(Object.keys(responses)).toEqual([expect.stringMatching(/^2\d\d$/), "4XX", "default"]);
  },
);

test("every write names the actor, and every described write is tested", () => {
  const writes = operations.filter(({ verb }) => verb !== "get");
  for (const { operation } of writes)
    expect(operation.parameters).toContainEqual(expect.objectContaining({ name: "X-Sandbox-Actor" }));
  // Only a document has records (test/records).
  const released = writes.filter(({ path }) => !path.includes("/records/"));
  const tested = acceptedWrites.map(({ method, described }) => `${method} /__sandbox${described}`);
  expect(released.map(({ verb, path }) => `${verb.toUpperCase()} ${path}`).sort()).toEqual(
    [...new Set(tested)].sort(),
  );
});
