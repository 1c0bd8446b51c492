import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { content, documentOf, success } from "../support/documents.js";
import { startBin } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Schemas and bodies that cost much more work than text. The server has a heap of 256 MB, as in docs/deploy.md.

const array = <Of>(length: number, make: (at: number) => Of) => Array.from({ length }, (_, at) => make(at));
const byName = (length: number, make: (at: number) => unknown) =>
  Object.fromEntries(array(length, (at) => [`m${at}`, make(at)]));
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const withPaths = (paths: object, components: object) => documentOf(paths, { components });
/** A document whose `POST /a` and `GET /a` have this schema. */
const withSchema = (schema: unknown, schemas: object = {}, more: object = {}) => {
  const responses = success(schema, "application/json", more);
  const made = { requestBody: content(schema), responses: { 201: { description: "" } } };
  return withPaths(
    { "/a": { get: { operationId: "read", responses }, post: { operationId: "make", ...made } } },
    { schemas },
  );
};

const filter = withSchema(ref("Filter"), {
  Filter: { oneOf: [ref("And"), ref("Or"), ref("Leaf")] },
  And: { type: "object", required: ["all"], properties: { all: { type: "array", items: ref("Filter") } } },
  Or: { type: "object", required: ["all"], properties: { all: { type: "array", items: ref("Filter") } } },
  Leaf: {
    type: "object",
    required: ["field"],
    properties: { field: { type: "string" } },
    additionalProperties: false,
  },
});
const nested = (levels: number, inside: unknown, wrap: (inner: unknown) => unknown) =>
  array(levels, () => 0).reduce<unknown>((inner) => wrap(inner), inside);
const filterOf = (levels: number) => nested(levels, { field: "a" }, (inner) => ({ all: [inner] }));
const wrongFilter = nested(18, { wrong: 1 }, (inner) => ({ all: [inner] }));
const lists = withSchema(ref("A"), { A: { type: "array", items: { anyOf: [ref("A"), ref("A")] } } });
const large = (schema: unknown) =>
  withSchema(nested(3, schema, (items) => ({ type: "array", minItems: 100, items })));
const definitions = (length: number) =>
  byName(length, (at) => ({
    type: "object",
    properties: { next: ref(`m${at + 1 === length ? 0 : at + 1}`) },
  }));

interface Attack {
  readonly document: unknown;
  readonly bodies?: readonly string[];
}

const attacks: Readonly<Record<string, Attack>> = {
  "1: alternatives of a recursive type": {
    document: filter,
    bodies: [wrongFilter, filterOf(14), filterOf(25)].map((body) => JSON.stringify(body)),
  },
  "3: a list of alternatives of itself": {
    document: lists,
    bodies: [nested(20, "x", (inner) => [inner]), [[[[[[[1]]]]]]]].map((one) => JSON.stringify(one)),
  },
  "4: a pattern that repeats a lot": {
    document: withSchema({ type: "string", pattern: "^[a-z]{999999999}$" }),
  },
  "4: a pattern of patterns": {
    document: withSchema({ type: "string", pattern: `^${nested(6, "a", (inner) => `(${inner}{9}){9}`)}$` }),
  },
  "5: many items in lists": { document: large({ type: "string" }) },
  "5: lists that may be large": {
    document: withSchema(
      nested(4, { type: "string" }, (items) => ({ type: "array", maxItems: 32_767, items })),
    ),
  },
  "5: a long text": { document: withSchema({ type: "string", minLength: 1e9 }) },
  "5: a text that may be long": { document: withSchema({ type: "string", maxLength: 1e9 }) },
  "6: a deep example": {
    document: withSchema(
      ref("A"),
      { A: { type: "array", items: { anyOf: [ref("A"), ref("A"), { type: "null" }] } } },
      { example: nested(24, 1, (inner) => [inner]) },
    ),
  },
  "7: responses times definitions": {
    document: withPaths(
      Object.fromEntries(
        array(1000, (at) => [
          `/p${at}`,
          {
            get: {
              responses: Object.fromEntries(
                [200, 400, 404].map((status) => [status, { $ref: "#/components/responses/R" }]),
              ),
            },
          },
        ]),
      ),
      { responses: { R: { description: "", ...content(ref("m0")) } }, schemas: definitions(4000) },
    ),
  },
  "8: many parts": {
    document: withSchema({
      allOf: array(1500, (at) => ({
        type: "object",
        required: [`m${at}`],
        properties: byName(at % 7, () => ({ type: "string" })),
      })),
    }),
  },
  "8: many members in members": {
    document: withSchema(
      nested(3, { type: "string" }, (additionalProperties) => ({
        type: "object",
        minProperties: 100,
        additionalProperties,
      })),
    ),
  },
  "8: an address that is long": {
    document: withSchema({ type: "string", format: "url" }),
    bodies: [JSON.stringify(`http://${"a-".repeat(30_000)}`)],
  },
  "8: unique objects": {
    document: withSchema({ type: "array", uniqueItems: true, items: { type: "object" } }),
    bodies: [JSON.stringify(array(6000, (at) => ({ at })))],
  },
  "a chain of references": {
    document: withSchema(
      ref("m0"),
      Object.fromEntries(
        array(15_000, (at) => [`m${at}`, at === 14_999 ? {} : { allOf: [ref(`m${at + 1}`)] }]),
      ),
    ),
  },
  "required members that double": {
    document: withSchema(
      ref("m0"),
      byName(60, (at) =>
        at === 59
          ? { type: "string" }
          : {
              type: "object",
              required: ["a", "b"],
              properties: { a: ref(`m${at + 1}`), b: ref(`m${at + 1}`) },
            },
      ),
    ),
  },
};

const organizations = {
  bank: {
    type: "bank",
    keys: { main: { environment: "test", secret: "SVC_test_sbxBudget0000000000000000000" } },
  },
};
const main = organizations.bank.keys.main.secret;
const heap = { NODE_OPTIONS: "--max-old-space-size=256" };

async function startServer(argv: readonly string[] = [], cwd?: string) {
  const running = startBin(["start", "--port", "0", "--json", "--log", "off", ...argv], {
    ...{ env: heap, hasInput: true },
    ...(cwd !== undefined && { cwd }),
  });
  const [line = ""] = (await running.until(/\n/)).split("\n");
  const { base_url: url } = JSON.parse(line);
  return { ...running, url: url as string };
}

async function statusesOf(base: string, bodies: readonly string[] = []): Promise<number[]> {
  const headers = { "x-api-key": main, "Content-Type": "application/json" };
  const statuses = [(await fetch(`${base}/a`, { headers })).status];
  for (const body of bodies)
    statuses.push((await fetch(`${base}/a`, { method: "POST", headers, body })).status);
  return statuses;
}

describe("a document and its requests never stop the server", () => {
  test("in a file of the command line", async () => {
    const cwd = temporaryFolder();
    for (const { document, bodies } of Object.values(attacks)) {
      writeFileSync(join(cwd, "api.json"), JSON.stringify(document));
      writeFileSync(
        join(cwd, "scenario.yaml"),
        stringify({ version: 1, organizations, openapi: "api.json" }),
      );
      const { url, child, ended } = await startServer(["scenario.yaml"], cwd);
      for (const status of await statusesOf(url, bodies)) expect(status).toBeLessThan(500);
      child.kill();
      expect((await ended).code).toBe(0);
    }
  });
});
