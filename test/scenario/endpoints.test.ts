import { expect, test } from "vitest";
import { parseScenario, type Scenario, ScenarioError } from "../../src/index.js";

const rest = "organizations: { bank: { type: bank, keys: { main: { environment: test } } } }\n";

/** The problems of a scenario with these endpoints: their code, place and texts. */
function problemsOf(endpoints: string, before = "version: 1\n", load?: Parameters<typeof parseScenario>[1]) {
  try {
    parseScenario(`${before}${rest}endpoints:\n  ${endpoints}\n`, load);
    return [];
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    return error.problems.map(({ code, field, line, message, hint }) => [code, field, line, message, hint]);
  }
}

const long = "x".repeat(33_000);

test.each<[endpoint: string, code: string, path: string, words: RegExp]>([
  ["9a: { path: /a }", "bad_format", "endpoints.9a", /operation id.*start with a letter/],
  [`${"a".repeat(65)}: { path: /a }`, "bad_format", `endpoints.${"a".repeat(65)}`, /at most 63/],
  ...["getRelyingPartyContext", "test", "live", "legacy", "retiring", "replacement"].map(
    (name): [string, string, string, RegExp] => [
      `${name}: { path: /a, status: 201 }`,
      "bad_format",
      `endpoints.${name}`,
      /belongs to \S+\/me: choose another name/,
    ],
  ),
  ["a: {}", "missing_field", "endpoints.a.path", /path is missing/],
  ["a: { path: a }", "bad_format", "endpoints.a.path", /start it with \//],
  ["a: { path: https://x.example/a }", "bad_format", "endpoints.a.path", /without the address/],
  ...[
    ...[
      "/a?b",
      "/a#b",
      "/a//b",
      "/a/../b",
      "/a/./b",
      "/a/%2e%2E",
      "/100%",
      "/a b",
      "/é",
      "/a/{id}.json",
      "/a/{}",
    ],
    ...[
      "/a/:id/b",
      "/a/<id>/b",
      "/a/<int:id>/b",
      "/a/[id]/b",
      "/a/$id/b",
      "/a/*",
      "/a/(.*)",
      "/a/a$b",
      "/a/:id?",
    ],
    ...[
      "/x%2Dy",
      "/x%2ey",
      "/x%5Fy",
      "/x%7ey",
      "/x%30y",
      "/x%39y",
      "/x%41y",
      "/x%4fy",
      "/x%5Ay",
      "/x%61y",
      "/x%7ay",
    ],
  ].map((wrong): [string, string, string, RegExp] => [
    `a: { path: "${wrong}" }`,
    "bad_format",
    "endpoints.a.path",
    /write each segment as \{id\}, or as clients send it/,
  ]),
  [`a: { path: /${"x".repeat(1000)} }`, "bad_format", "endpoints.a.path", /write at most 1,000/],
  ["a: { path: /v1/relying-party/me }", "bad_format", "endpoints.a.path", /built in and cannot be replaced/],
  ["a: { path: /__sandbox/keys }", "bad_format", "endpoints.a.path", /control plane has/],
  ["a: { method: HEAD, path: /a }", "bad_choice", "endpoints.a.method", /GET, POST, PUT, PATCH or DELETE/],
  ["a: { method: get, path: /a }", "bad_choice", "endpoints.a.method", /GET/],
  ["a: { path: /a, status: 404 }", "bad_choice", "endpoints.a.status", /200, 201, 202 or 204, not 404/],
  ["a: { path: /a, status: 204, body: {} }", "endpoint_contradiction", "endpoints.a.body", /204 has no body/],
  ["a: { path: /a, headers: { A: b } }", "unknown_field", "endpoints.a.headers", /unknown field/],
  [`a: { path: /a, body: ["${long}", "${long}"] }`, "endpoint_contradiction", "endpoints.a.body", /64 KiB/],
  [`a: { path: /a, body: [&x "${long}", *x] }`, "endpoint_contradiction", "endpoints.a.body", /aliases/],
  ["a: { path: /a, body: .inf }", "out_of_range", "endpoints.a.body", /no such number/],
  ["a: { path: /a, scope: 1 }", "wrong_type", "endpoints.a.scope", /scope name/],
  ["a: { path: /a, delay: 1 }", "unknown_field", "endpoints.a.delay", /unknown field/],
  ["a: null", "endpoint_contradiction", "endpoints.a", /removes nothing/],
])("an endpoint is checked, and shown with its place: %s", (endpoint, code, path, words) => {
  expect(problemsOf(endpoint)).toEqual([[code, path, 4, expect.any(String), expect.any(String)]]);
  const [[, , , message, hint] = []] = problemsOf(endpoint);
  expect(`${message}: ${hint}`).toMatch(words);
});

test.each([
  "/",
  "/a..b",
  "/@me",
  "/a:b",
  "/%c3%a9",
  "/a%20b",
  "/a/",
  "/m;v=1",
  "/x-1_2.3~",
  "/a+b!&',=",
  "/%40%2f%5b%60%7B%2c",
])("a path that clients can send is fine: %s", (path) =>
  expect(problemsOf(`a: { path: "${path}" }`)).toEqual([]),
);

test("two endpoints have other paths or methods, whatever their parameters are called", () => {
  const message = expect.stringContaining('"a" already responds to GET /a/{y}');
  expect(problemsOf("a: { path: '/a/{x}' }\n  b: { path: '/a/{y}' }")).toEqual([
    ["endpoint_contradiction", "endpoints.b.path", 5, message, expect.any(String)],
  ]);
  expect(
    problemsOf("a: { path: '/a/{x}' }\n  b: { method: PUT, path: '/a/{y}' }\n  c: { path: /a/b }"),
  ).toEqual([]);
});

test("a scenario has at most 100 endpoints", () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => `e${index}: { path: /e/${index} }`).join("\n  ");
  expect(problemsOf(many(100))).toEqual([]);
  expect(problemsOf(many(101)).map(([code, path]) => [code, path])).toEqual([["out_of_range", "endpoints"]]);
});

test("a body that aliases make huge is rejected without being written out", () => {
  const aliases = Array.from({ length: 900 }, () => "*x").join(", ");
  const huge = `a: { path: /a, body: [&x "${"x".repeat(900_000)}", ${aliases}] }`;
  expect(problemsOf(huge).map(([code, path]) => [code, path])).toEqual([
    ["endpoint_contradiction", "endpoints.a.body"],
  ]);
});

const base = `version: 1\n${rest}endpoints:\n  a: { path: /a, scope: consents:read, body: { x: 1 } }\n  b: { path: /b }\n`;

test("extends merges endpoints by name and field, bodies as a whole; null removes one", () => {
  const load = () => ({ text: base, file: "base.yaml" });
  const own =
    "version: 1\nextends: base.yaml\nendpoints:\n  a: { body: { y: 2 } }\n  b: null\n  c: { path: /c }\n";
  expect(parseScenario(own, { load }).endpoints).toEqual({
    a: { path: "/a", scope: "consents:read", body: { y: 2 } },
    c: { path: "/c" },
  } satisfies Scenario["endpoints"]);
  const [problem] = problemsOf("d: null", "version: 1\nextends: base.yaml\n", { load });
  expect(problem?.slice(0, 3)).toEqual(["endpoint_contradiction", "endpoints.d", 5]);
});

/** The places of the problems when these texts extend each other, the first one the last. */
function placesIn(...texts: readonly string[]) {
  const load = (name: string) => ({ text: texts[Number(name)] ?? "", file: name });
  try {
    return parseScenario(texts[0] ?? "", { file: "0", load }) && [];
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    return error.problems.map(({ field, file, line }) => [field, file, line]);
  }
}

const file = (members: string, extended?: number) =>
  `version: 1\n${extended === undefined ? "" : `extends: "${extended}"\n`}${members}\n`;
const keysOf = (keys: string) => `organizations: { bank: { type: bank, keys: { ${keys} } } }`;
const withBody = file(`${rest}endpoints: { a: { path: /a, body: 1 }, b: { path: /b } }`);

test.each<[what: string, texts: readonly string[], places: unknown]>([
  [
    "a status over a body",
    [file("endpoints: { a: { status: 204 } }", 1), withBody],
    ["endpoints.a.body", "1", 3],
  ],
  [
    "a body over a status",
    [file("endpoints: { b: { body: 1 } }", 1), file(`${rest}endpoints: { b: { path: /b, status: 204 } }`)],
    ["endpoints.b.body", "0", 3],
  ],
  [
    "a status in the middle of three",
    [file("description: Third.", 1), file("endpoints: { a: { status: 204 } }", 2), withBody],
    ["endpoints.a.body", "2", 3],
  ],
  ["a path", [file("endpoints: { a: { path: /b } }", 1), withBody], ["endpoints.b.path", "1", 3]],
  [
    "a state over a replacement",
    [
      file(keysOf("old: { state: active }"), 1),
      file(
        keysOf("old: { environment: test, state: retiring, replaced_by: new }, new: { environment: test }"),
      ),
    ],
    ["organizations.bank.keys.old.replaced_by", "1", 2],
  ],
  [
    "an environment over a secret",
    [
      file(keysOf("main: { environment: live }"), 1),
      file(keysOf("main: { environment: test, secret: SVC_test_sbx1234567890 }")),
    ],
    ["organizations.bank.keys.main.secret", "1", 2],
  ],
])(
  "a contradiction is shown at one of its fields, in the text that has this field: %s",
  (_what, texts, place) => {
    expect(placesIn(...texts)).toEqual([place]);
  },
);

test("below extends, body: null removes a body, and is JSON's null if there is none", () => {
  const load = () => ({ text: withBody, file: "1" });
  const own = file(
    "endpoints: { a: { status: 204, body: null }, b: { body: null }, c: { path: /c, body: null } }",
    1,
  );
  expect(parseScenario(own, { load }).endpoints).toEqual({
    a: { path: "/a", status: 204 },
    b: { path: "/b", body: null },
    c: { path: "/c", body: null },
  });
});
