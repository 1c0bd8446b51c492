import { describe, expect, test, vi } from "vitest";
import { createSandbox, SandboxError, type ScenarioProblem } from "../../src/index.js";
import { readOpenApi } from "../../src/library/entries/openapi.js";
import { documentOf, success } from "../support/documents.js";

// Odd documents: each is a clear error or is served, and none stops the process.

type Parts = Readonly<Record<string, unknown>>;
type Row = readonly [name: string, document: unknown];

const nothing = { responses: { 200: { description: "" } } };
const operation = (more: object) => documentOf({ "/a": { get: { ...nothing, ...more } } });
const operationAt = (path: string, more?: object) => documentOf({ [path]: { get: nothing } }, more);

/** A document of one operation, whose response has this schema. */
const withSchema = (schema: unknown, { openapi = "3.1.0", ...schemas }: Parts = {}) => ({
  ...documentOf({ "/a": { get: { operationId: "a", responses: success(schema) } } }),
  ...{ openapi, components: { schemas } },
});
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const array = <Of>(length: number, make: (at: number) => Of) => Array.from({ length }, (_, at) => make(at));
const nested = (levels: number, inside: unknown, wrap: (inner: unknown) => unknown) =>
  array(levels, () => 0).reduce<unknown>((inner) => wrap(inner), inside);

/** A row for each of several parts. */
const rows = <Part>(name: string, parts: readonly Part[], make: (part: Part) => unknown): Row[] =>
  parts.map((part) => [name, make(part)]);
/** A row for each schema and version of OpenAPI; other schemas stand next to it. */
const schemas = (ofName: Readonly<Record<string, readonly [schema: unknown, others?: Parts]>>): Row[] =>
  ["3.0.3", "3.1.0"].flatMap((openapi) =>
    Object.entries(ofName).map(
      ([name, [schema, others]]): Row => [name, withSchema(schema, { openapi, ...others })],
    ),
  );

const references = [
  ..."https://any.example/x.yaml file:///etc/passwd ../other.yaml other.yaml#/a".split(" "),
  ..."#a #/ #/nowhere #/paths/~ #/%ff #/__proto__/x #/components/constructor".split(" "),
  "",
  " ",
  "#/components/schemas/Missing",
  "urn:uuid:1",
];

const patterns = [
  ..."(a+)+$ ^(a|a)*$ ^(a|aa)+$ (.*a){25} ([a-zA-Z]+)*\\d ^(([a-z])+.)+[A-Z]([a-z])+$ (x+x+)+y (?=a)b (a)\\1 a{5000} (a{1000}){1000} [ ( * \\ (?<n>a)\\k<n> \\p{L}+ [^]".split(
    " ",
  ),
  "(".repeat(500) + ")".repeat(500),
  "a".repeat(100_000),
  "(a?){50}a{50}",
];

const notDocuments = ["", "[]", "null", "1", '"text"', "%", "\u0000", "a: [", "{", "---\na: 1\n---\nb: 2\n"];
const letters = [..."abcdefghij"];
const multiplied = letters.slice(1).map((letter, at) => {
  const inner = array(10, () => `*${letters[at]}`);
  return `x-${letter}: &${letter} [${inner}]`;
});

const rejected: readonly Row[] = [
  ...rows("a version", ["2.0", "1.2", 3, null, "3", "3.3.0", "4.0.0", "03.1.0", {}, []], (openapi) =>
    withSchema({}, { openapi }),
  ),
  ["Swagger 2", { swagger: "2.0", info: { title: "", version: "" }, paths: {} }],
  ...rows("not a document", [...notDocuments, "&a [*a]", "a: *b"], (text) => text),
  ["a very deep schema", withSchema(nested(1500, {}, (not) => ({ not })))],
  ["more than 20 MiB", operation({ description: "a".repeat(20 * 1024 * 1024) })],
];

const object = { type: "object" };
const served: readonly Row[] = [
  [
    "aliases that multiply",
    `openapi: 3.1.0\ninfo: {title: a, version: a}\npaths: {}\nx-a: &a [1,1,1,1,1,1,1,1,1,1]\n${multiplied.join("\n")}`,
  ],
  ...rows("a reference", references, ($ref) => withSchema({ $ref })),
  ...rows("a path item elsewhere", references, ($ref) => documentOf({ "/a": { $ref } })),
  ...schemas({
    "a loop of one": [ref("A"), { A: ref("A") }],
    "a loop of two": [ref("A"), { A: ref("B"), B: ref("A") }],
    "a schema that is a text": ["string"],
    "members that are a list": [{ properties: [] }],
  }),
  ["responses that are a list", operation({ responses: [] })],
  ...patterns.flatMap((pattern) => schemas({ "a pattern": [{ type: "string", pattern }] })),
  ...schemas({
    "a recursive type": [ref("A"), { A: { ...object, required: ["a"], properties: { a: ref("A") } } }],
    "a type that contains itself": [ref("A"), { A: { allOf: [ref("A")] } }],
    "a type of itself or itself": [ref("A"), { A: { oneOf: [ref("A"), ref("A")] } }],
    "a huge minimum of characters": [{ type: "string", minLength: 1e9 }],
    "a huge minimum of items": [{ type: "array", items: {}, minItems: 1e9 }],
    "a huge minimum of different choices": [
      { type: "array", items: { enum: [1, 2] }, uniqueItems: true, minItems: 1e9 },
    ],
    "a huge enum": [{ enum: array(50_000, (at) => `value ${at}`) }],
    "a wide and deep type": [
      ref("A0"),
      Object.fromEntries(
        array(12, (at) => {
          const members = array(30, (one) => [`m${one}`, ref(`A${at + 1}`)]);
          const schema = { ...object, properties: Object.fromEntries(members) };
          return [`A${at}`, at === 11 ? { type: "string" } : schema];
        }),
      ),
    ],
    "many alternatives": [{ anyOf: array(2000, (at) => ({ ...object, required: [`m${at}`] })) }],
    "alternatives inside of alternatives": [nested(10, { type: "string" }, (one) => ({ anyOf: [one, one] }))],
    "the whole document": [{ $ref: "#" }],
    "nothing is valid": [{ not: {} }],
    "limits that exclude each other": [{ type: "integer", minimum: 5, maximum: 4 }],
    "a tiny step": [{ type: "number", multipleOf: 1e-300 }],
    "unique items of one value": [
      { type: "array", uniqueItems: true, minItems: 5, items: { type: "boolean" } },
    ],
    "members of Object.prototype": [
      {
        ...{ ...object, required: ["constructor", "toString", "hasOwnProperty"] },
        properties: {
          constructor: { type: "string" },
          toString: { ...object, properties: { valueOf: { enum: [null] } } },
        },
      },
    ],
  }),
  ...rows(
    "an odd schema",
    [
      {},
      object,
      { type: ["null", "string"] },
      { type: [] },
      { const: null },
      { items: false },
      true,
      { $id: "http://any.example/x" },
      { $schema: "http://any.example/x" },
      { $anchor: "a" },
      { $dynamicRef: "#meta" },
      { $defs: { a: { $id: "b" } } },
    ],
    (schema) => withSchema(schema),
  ),
  ...rows(
    "an odd path",
    [..."/{ /} /a{b}c /{a}{b} /{} /a?b=c /a#b /%00 /\u{1f600} /{a}/{a}".split(" "), `/${"a/".repeat(2000)}`],
    (path) => operationAt(path),
  ),
  ...rows(
    "an odd server",
    [..." / // https:// {a} http://x.example/{__proto__} ../.. \u0000".split(" "), "a".repeat(10_000)],
    (url) => operationAt("/a", { servers: [{ url }] }),
  ),
  ...rows(
    "an odd operation id",
    [..."__proto__|constructor|../../a|a b||\u0000|getRelyingPartyContext".split("|"), "x".repeat(10_000)],
    (operationId) => operation({ operationId }),
  ),
  ...rows("an odd header", ["\r\nSet-Cookie: a=b", "\u{1f600}", "x".repeat(20_000)], (example) => {
    const headers = { "X-A": { example }, "X\r\nB": { example: "b" } };
    return operation({ responses: { 200: { description: "", headers } } });
  }),
  ...rows(
    "an odd media type",
    "text/html|*/*|a|application/json; charset=utf-8|application/json\r\nX: y|image/png".split("|"),
    (type) =>
      operation({ responses: { 200: { description: "", content: { [type]: { example: "<script>" } } } } }),
  ),
];

const fetched = vi.spyOn(globalThis, "fetch");

/** What a document results in: problems, or the response to its first operation. */
async function outcomeOf(
  document: unknown,
): Promise<{ readonly problems?: readonly ScenarioProblem[]; readonly status?: number }> {
  const text = typeof document === "string" ? document : JSON.stringify(document);
  try {
    const sandbox = createSandbox({ scenario: "key-states", openapi: readOpenApi(text) });
    const { status } = await sandbox.fetch("http://any.example/a", {
      headers: { "x-api-key": sandbox.secret("active") },
    });
    return { status };
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== "scenario_invalid") throw error;
    return { problems: (error as unknown as { problems: readonly ScenarioProblem[] }).problems };
  }
}

const numbered = (all: readonly Row[]) => all.map(([name, document], at) => [`${at} ${name}`, document]);

describe("a document that cannot be served", () => {
  test.each(numbered(rejected))("%s is a problem with a message and a hint", async (_, document) => {
    const { problems = [] } = await outcomeOf(document);
    expect(problems.length).toBeGreaterThan(0);
    for (const { message, file, hint } of problems) {
      expect([message, file, hint]).toEqual([expect.stringMatching(/\w/), "<openapi>", expect.any(String)]);
    }
    expect(fetched).not.toHaveBeenCalled();
  });
});

describe("an odd document", () => {
  test.each(numbered(served))("%s is served", async (_, document) => {
    const { problems, status } = await outcomeOf(document);
    expect(problems).toBeUndefined();
    expect([200, 404]).toContain(status);
    expect(fetched).not.toHaveBeenCalled();
  });
});
