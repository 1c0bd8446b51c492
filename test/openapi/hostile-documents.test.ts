import { describe, expect, test, vi } from "vitest";
import { createSandbox, SandboxError, type ScenarioProblem } from "../../src/index.js";
import { readOpenApi } from "../../src/library/entries/openapi.js";

// Documents that somebody made to break the sandbox: each is a clear error or a service.

type Parts = Readonly<Record<string, unknown>>;

const content = (schema: unknown) => ({ "application/json": { schema } });

/** A document of one operation, whose response has this schema. */
const withSchema = (schema: unknown, { openapi = "3.1.0", ...components }: Parts = {}) => ({
  ...{ openapi, info: { title: "Hostile", version: "1" } },
  paths: {
    "/a": { get: { operationId: "a", responses: { 200: { description: "", content: content(schema) } } } },
  },
  components: { schemas: components },
});
const withPaths = (paths: unknown, more: object = {}) => ({
  ...{ openapi: "3.1.0", info: { title: "Hostile", version: "1" }, paths },
  ...more,
});
const operation = (more: object) =>
  withPaths({ "/a": { get: { responses: { 200: { description: "" } }, ...more } } });
const nested = (levels: number, inside: unknown, name: string) => {
  let value = inside;
  for (let level = 0; level < levels; level++) value = name === "list" ? [value] : { [name]: value };
  return value;
};
const array = <Of>(length: number, make: (at: number) => Of) => Array.from({ length }, (_, at) => make(at));
const versions = ["3.0.3", "3.1.0"];

const elsewhere = [
  ..."http://127.0.0.1:9/x.json https://attacker.example/x.yaml file:///etc/passwd /etc/passwd ../secret.yaml other.yaml#/a".split(
    " ",
  ),
  ..."//attacker.example/x data:application/json,{} #a #/ #/nowhere #/paths/~ #/%ff #/__proto__/x #/components/constructor".split(
    " ",
  ),
  ...["", " ", "#/components/schemas/Missing", "urn:uuid:1", "\u0000", "javascript:alert(1)"],
];

const patterns = [
  ..."(a+)+$ ^(a|a)*$ ^(a|aa)+$ (.*a){25} ([a-zA-Z]+)*\\d ^(([a-z])+.)+[A-Z]([a-z])+$ (x+x+)+y (?=a)b (a)\\1 a{5000} (a{1000}){1000} [ ( * \\ (?<n>a)\\k<n> \\p{L}+ [^]".split(
    " ",
  ),
  "(".repeat(500) + ")".repeat(500),
  "a".repeat(100_000),
  "(a?){50}a{50}",
];

const rejected: readonly (readonly [string, unknown])[] = [
  ...["2.0", "1.2", 3, null, "3", "3.3.0", "4.0.0", "3.1", "03.1.0", {}, []].map(
    (version) => ["a version", withSchema({}, { openapi: version as string })] as const,
  ),
  ["Swagger 2", { swagger: "2.0", info: { title: "", version: "" }, paths: {} }],
  ...[
    "",
    "[]",
    "null",
    "1",
    '"text"',
    "%",
    "\u0000",
    "a: [",
    "{",
    "---\na: 1\n---\nb: 2\n",
    "&a [*a]",
    "a: *b",
  ].map((text) => ["not a document", text] as const),
  ...elsewhere.map((to) => ["a reference outside", withSchema({ $ref: to })] as const),
  ...elsewhere.map((to) => ["a path item elsewhere", withPaths({ "/a": { $ref: to } })] as const),
  ...[1, null, [], {}].map((to) => ["a reference that is no text", withSchema({ $ref: to })] as const),
  ...versions.flatMap((openapi) => [
    [
      "a loop of one",
      withSchema({ $ref: "#/components/schemas/A" }, { openapi, A: { $ref: "#/components/schemas/A" } }),
    ] as const,
    [
      "a loop of two",
      withSchema(
        { $ref: "#/components/schemas/A" },
        { openapi, A: { $ref: "#/components/schemas/B" }, B: { $ref: "#/components/schemas/A" } },
      ),
    ] as const,
    ["a deep schema", withSchema(nested(100, {}, "items"), { openapi })] as const,
    ["a very deep schema", withSchema(nested(1500, {}, "not"), { openapi })] as const,
    ["a wrong type", withSchema({ type: "many" }, { openapi })] as const,
    ["a schema that is a text", withSchema("string", { openapi })] as const,
    ["members that are a list", withSchema({ properties: [] }, { openapi })] as const,
  ]),
  ["an example that is too deep", operation({ "x-deep": nested(200, 1, "list") })],
  ["a forbidden name", `{"openapi":"3.1.0","info":{"title":"","version":""},"paths":{},"__proto__":{"a":1}}`],
  ["a forbidden member", JSON.stringify(withSchema({ properties: { X: {} } })).replace('"X"', '"__proto__"')],
  [
    "paths of the sandbox",
    withPaths({ "/__sandbox/keys": { get: { responses: { 200: { description: "" } } } } }),
  ],
  [
    "paths of the sandbox by its server",
    withPaths(
      { "/keys": { get: { responses: { 200: { description: "" } } } } },
      { servers: [{ url: "https://x.example/__sandbox" }] },
    ),
  ],
  ["no info", { openapi: "3.1.0", paths: {} }],
  ["paths without a slash", withPaths({ a: {} })],
  ["responses that are a list", withPaths({ "/a": { get: { responses: [] } } })],
  ["a parameter without a place", operation({ parameters: [{ name: "a" }] })],
  [
    "too many operations",
    withPaths(
      Object.fromEntries(
        array(2001, (at) => [`/a${at}`, { get: { responses: { 200: { description: "" } } } }]),
      ),
    ),
  ],
  ["too many parts", `${JSON.stringify(operation({ "x-many": array(2_000_001, () => 1) }))}`],
  ["more than 20 MiB", JSON.stringify(operation({ description: "a".repeat(20 * 1024 * 1024) }))],
  [
    "aliases that multiply",
    `openapi: 3.1.0\ninfo: {title: a, version: a}\npaths: {}\nx-a: &a [1,1,1,1,1,1,1,1,1,1]\n${array(9, (at) => `x-${"bcdefghij"[at]}: &${"bcdefghij"[at]} [${array(10, () => `*${"abcdefghij"[at]}`)}]`).join("\n")}`,
  ],
];

const served: readonly (readonly [string, unknown])[] = [
  ...versions.flatMap((openapi) => [
    ...patterns.map(
      (pattern) => ["a pattern", withSchema({ type: "string", pattern }, { openapi })] as const,
    ),
    [
      "a recursive type",
      withSchema(
        { $ref: "#/components/schemas/A" },
        {
          openapi,
          A: { type: "object", required: ["a"], properties: { a: { $ref: "#/components/schemas/A" } } },
        },
      ),
    ] as const,
    [
      "a type that contains itself",
      withSchema(
        { $ref: "#/components/schemas/A" },
        { openapi, A: { allOf: [{ $ref: "#/components/schemas/A" }] } },
      ),
    ] as const,
    [
      "a type of itself or itself",
      withSchema(
        { $ref: "#/components/schemas/A" },
        { openapi, A: { oneOf: [{ $ref: "#/components/schemas/A" }, { $ref: "#/components/schemas/A" }] } },
      ),
    ] as const,
    ["a huge minimum of characters", withSchema({ type: "string", minLength: 1e9 }, { openapi })] as const,
    [
      "a huge minimum of items",
      withSchema({ type: "array", items: {}, minItems: 1e9 }, { openapi }),
    ] as const,
    [
      "a huge minimum of different choices",
      withSchema({ type: "array", items: { enum: [1, 2] }, uniqueItems: true, minItems: 1e9 }, { openapi }),
    ] as const,
    ["a huge enum", withSchema({ enum: array(50_000, (at) => `value ${at}`) }, { openapi })] as const,
    [
      "a wide and deep type",
      withSchema(
        { $ref: "#/components/schemas/A0" },
        {
          openapi,
          ...Object.fromEntries(
            array(12, (at) => [
              `A${at}`,
              at === 11
                ? { type: "string" }
                : {
                    type: "object",
                    properties: Object.fromEntries(
                      array(30, (one) => [`m${one}`, { $ref: `#/components/schemas/A${at + 1}` }]),
                    ),
                  },
            ]),
          ),
        },
      ),
    ] as const,
    [
      "many alternatives",
      withSchema({ anyOf: array(2000, (at) => ({ type: "object", required: [`m${at}`] })) }, { openapi }),
    ] as const,
    [
      "alternatives inside of alternatives",
      withSchema(nested(10, { type: "string" }, "x"), { openapi }),
    ] as const,
    ["the whole document", withSchema({ $ref: "#" }, { openapi })] as const,
    ["nothing is valid", withSchema({ not: {} }, { openapi })] as const,
    [
      "limits that exclude each other",
      withSchema({ type: "integer", minimum: 5, maximum: 4 }, { openapi }),
    ] as const,
    ["a tiny step", withSchema({ type: "number", multipleOf: 1e-300 }, { openapi })] as const,
    [
      "unique items of one value",
      withSchema({ type: "array", uniqueItems: true, minItems: 5, items: { type: "boolean" } }, { openapi }),
    ] as const,
    [
      "members of Object.prototype",
      withSchema(
        {
          type: "object",
          required: ["constructor", "toString", "hasOwnProperty"],
          properties: {
            constructor: { type: "string" },
            toString: { type: "object", properties: { valueOf: { type: "null" } } },
          },
        },
        { openapi: "3.1.0" },
      ),
    ] as const,
  ]),
  ...[
    {},
    { type: "object" },
    { type: ["null", "string"] },
    { type: [] },
    { const: null },
    { items: false },
    { $id: "http://attacker.example/x" },
    { $schema: "http://attacker.example/x" },
    { $anchor: "a" },
    { $dynamicRef: "#meta" },
    { $defs: { a: { $id: "b" } } },
    true,
  ].map((schema) => ["an odd schema", withSchema(schema)] as const),
  ...[
    "/{",
    "/}",
    "/a{b}c",
    "/{a}{b}",
    "/{}",
    "/a?b=c",
    "/a#b",
    "/%00",
    "/\u{1f600}",
    "/{a}/{a}",
    `/${"a/".repeat(2000)}`,
  ].map(
    (path) =>
      ["an odd path", withPaths({ [path]: { get: { responses: { 200: { description: "" } } } } })] as const,
  ),
  ...[
    "",
    "/",
    "//",
    "https://",
    "javascript:alert(1)",
    "{a}",
    "http://x.example/{__proto__}",
    "../..",
    "\u0000",
    "a".repeat(10_000),
  ].map(
    (url) =>
      [
        "an odd server",
        withPaths({ "/a": { get: { responses: { 200: { description: "" } } } } }, { servers: [{ url }] }),
      ] as const,
  ),
  ...[
    "__proto__",
    "constructor",
    "../../a",
    "a b",
    "",
    "\u0000",
    "x".repeat(10_000),
    "getRelyingPartyContext",
  ].map((operationId) => ["an odd operation id", operation({ operationId })] as const),
  ...["\r\nSet-Cookie: a=b", "\u{1f600}", "x".repeat(20_000)].map(
    (example) =>
      [
        "an odd header",
        operation({
          responses: {
            200: { description: "", headers: { "X-A": { example }, "X\r\nB": { example: "b" } } },
          },
        }),
      ] as const,
  ),
  ...[
    "text/html",
    "*/*",
    "a",
    "application/json; charset=utf-8",
    "application/json\r\nX: y",
    "image/png",
  ].map(
    (type) =>
      [
        "an odd media type",
        operation({ responses: { 200: { description: "", content: { [type]: { example: "<script>" } } } } }),
      ] as const,
  ),
];

const fetched = vi.spyOn(globalThis, "fetch");

/** What a document results in: problems, or the response to its first operation. */
async function outcomeOf(
  document: unknown,
): Promise<{ readonly problems?: readonly ScenarioProblem[]; readonly status?: number }> {
  const text = typeof document === "string" ? document : JSON.stringify(document);
  const started = process.cpuUsage();
  try {
    const sandbox = createSandbox({ scenario: "key-states", openapi: readOpenApi(text) });
    const { status } = await sandbox.fetch("http://any.example/a", {
      headers: { "x-api-key": sandbox.secret("active") },
    });
    return { status };
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== "scenario_invalid") throw error;
    return { problems: (error as unknown as { problems: readonly ScenarioProblem[] }).problems };
  } finally {
    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1e6).toBeLessThan(2);
  }
}

test("more than 200 hostile documents are tried", () => {
  expect(rejected.length + served.length).toBeGreaterThan(200);
});

describe("a document that cannot be served", () => {
  test.each(
    rejected.map(([name, document], at) => [`${at} ${name}`, document] as const),
  )("%s is a problem with a message and a hint", async (_, document) => {
    const { problems = [] } = await outcomeOf(document);
    expect(problems.length).toBeGreaterThan(0);
    for (const { message, file, hint } of problems) {
      expect([message.length, file, typeof hint]).toEqual([expect.any(Number), "<openapi>", "string"]);
    }
    expect(fetched).not.toHaveBeenCalled();
  });
});

describe("an odd document", () => {
  test.each(
    served.map(([name, document], at) => [`${at} ${name}`, document] as const),
  )("%s is served, or is a problem", async (_, document) => {
    const { problems, status } = await outcomeOf(document);
    if (problems === undefined) expect([200, 404]).toContain(status);
    else expect(problems[0]?.message).toMatch(/\w/);
    expect(fetched).not.toHaveBeenCalled();
    expect(({} as { a?: unknown }).a).toBeUndefined();
  });
});
