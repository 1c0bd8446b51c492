import fc from "fast-check";
import { expect, test } from "vitest";
import { createSandbox, parseScenario, type Scenario, ScenarioError } from "../../src/index.js";
import { isSentAsWritten, scaled } from "../model/number-model.js";
import { runs } from "../support/property-seed.js";

const start = "version: 1\norganizations: { bank: { type: bank, keys: { main: { environment: test } } } }\n";

function problemsOf(read: () => unknown) {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    return error.problems.map(({ code, field, line, column }) => [code, field, line, column]);
  }
}

const inEndpoint = (body: string) => `${start}endpoints: { a: { path: /a, body: ${body} } }\n`;

test.each([
  ["an endpoint", "endpoints: { a: { path: /a, body: { x: ^ } } }", "endpoints.a.body.x"],
  ["a request", "story: [{ request: { key: main, body: [1, ^] } }]", "story[0].request.body[1]"],
  ["an expectation", "story: [{ request: { key: main }, expect: { body: ^ } }]", "story[0].expect.body"],
])("a number that JSON would change is refused at its place: in the body of %s", (_where, text, path) => {
  for (const number of [
    "9007199254740993",
    "1.0000000000000001",
    "0xffffffffffffffff",
    "1e-400",
    "1e400",
    ".nan",
  ]) {
    expect(problemsOf(() => parseScenario(start + text.replace("^", number)))).toEqual([
      ["out_of_range", path, 3, text.indexOf("^") + 1],
    ]);
  }
  expect(problemsOf(() => parseScenario(start + text.replace("^", '"9007199254740993"')))).toEqual([]);
});

test("a body is too long by its JSON: a list of 13,000 numbers has 26,001 bytes, and one of 33,000 has more than 64 KiB", () => {
  const listOf = (length: number) => JSON.stringify(Array.from({ length }, () => 1));
  expect(problemsOf(() => parseScenario(inEndpoint(listOf(13_000))))).toEqual([]);
  expect(problemsOf(() => parseScenario(inEndpoint(listOf(33_000))))).toEqual([
    ["endpoint_contradiction", "endpoints.a.body", 3, 35],
  ]);
});

test.each(["256935335202652164", "0.10000000000000000001", `1.${"0".repeat(200)}1`, '!!float "1e-400"'])(
  "a number is refused by its text, also behind an alias: %s",
  (number) => {
    const text = `x-id: &id ${number}\n${inEndpoint("{ id: *id }")}`;
    expect(problemsOf(() => parseScenario(text))).toEqual([["out_of_range", "endpoints.a.body.id", 4, 41]]);
  },
);

test.each<[text: string, sent: string]>([
  ["1e20", "100000000000000000000"],
  ["1e21", "1e+21"],
  ["1.797e308", "1.797e+308"],
  ["9007199254740991", "9007199254740991"],
  ["1.10", "1.1"],
  ["0.5", "0.5"],
  ["-0", "0"],
  ["0x1F", "31"],
  ["0o17", "15"],
  ["0x1FFFFFFFFFFFFF", "9007199254740991"],
])("a number whose value JSON sends is fine: %s", async (text, sent) => {
  const sandbox = createSandbox({ scenario: parseScenario(inEndpoint(text)) });
  const headers = { "x-api-key": sandbox.secret("main" as never) };
  expect(await (await sandbox.fetch("https://any.example/a", { headers })).text()).toBe(sent);
});

test.each(["017", "00501", "-017", "+017", "00.5", "00", "040075"])(
  "a number with zeros in front is a code or an id, which would lose them: %s",
  (text) => {
    const read = () => parseScenario(inEndpoint(`{ code: ${text} }`));
    expect(problemsOf(read)).toEqual([["out_of_range", "endpoints.a.body.code", 3, 43]]);
    expect(read).toThrow("JSON would change this number");
    expect(read).toThrow("put a code or an id in quotes");
  },
);

test.each(["0", "0x1F", "0o17", "1e2", "0.5e1", "007"])(
  "a field that is a number may have another form: %s",
  (seed) => {
    const scenario = parseScenario(`${start}seed: ${seed}\n`);
    expect(scenario.seed).toBe(Number(seed));
  },
);

test.each([
  "123456789.123456789",
  "0x20000000000001",
  "9007199254740993",
  "18446744073709551616",
  "1.0000000000000000001",
])("a number that JSON would round is refused: %s", (text) => {
  expect(problemsOf(() => parseScenario(inEndpoint(text)))[0]?.[0]).toBe("out_of_range");
});

test("given as JavaScript, a number is finite", () => {
  const problems = (body: unknown) =>
    problemsOf(() =>
      createSandbox({
        scenario: { ...parseScenario(start), endpoints: { a: { path: "/a", body } } } as Scenario,
      }),
    ).map(([code, path]) => [code, path]);
  expect(problems(Number.POSITIVE_INFINITY)).toEqual([["out_of_range", "endpoints.a.body"]]);
  expect(problems([2 ** 53, 2 ** 60, 0.1, 5e-324, 1.7e308, -0])).toEqual([]);
});

const tagged = [
  "!!set { a }",
  "!!timestamp 2026-03-02",
  "!!omap [a: 1]",
  "!!binary SGk=",
  "!!pairs [a: 1]",
  "!own 1",
];
const places = [
  "endpoints: { a: { path: /a, body: ^ } }",
  "endpoints: { a: { path: /a, body: [{ x: ^ }] } }",
  "story: [{ request: { key: main, body: ^ } }]",
  "story: [{ request: { key: main }, expect: { body: { x: ^ } } }]",
  "x-any: ^",
];
test.each(tagged)("a tag that is not plain data is refused at its place: %s", (value) => {
  for (const text of places) {
    expect(problemsOf(() => parseScenario(start + text.replace("^", value)))).toEqual([
      ["not_plain_data", "", 3, text.indexOf("^") + 1],
    ]);
  }
});

test("the tags of plain data are fine", () => {
  const text = "{ s: !!str 5, i: !!int 5, f: !!float 5, m: !!map { a: 1 }, l: !!seq [!!null null] }";
  const body = { s: "5", i: 5, f: 5, m: { a: 1 }, l: [null] };
  expect(parseScenario(inEndpoint(text)).endpoints?.a?.body).toEqual(body);
});

test("a number is sent with the value that it has in the text, or refused", async () => {
  const digits = (maxLength: number) =>
    fc.array(fc.constantFrom(..."0123456789"), { minLength: 1, maxLength }).map((all) => all.join(""));
  const number = fc
    .tuple(
      fc.constantFrom("", "-", "+"),
      digits(20),
      fc.option(digits(20)),
      fc.option(fc.integer({ min: -340, max: 310 })),
    )
    .map(([sign, whole, fraction, exponent]) =>
      [sign, whole, fraction === null ? "" : `.${fraction}`, exponent === null ? "" : `e${exponent}`].join(
        "",
      ),
    );
  let sent = 0;
  await fc.assert(
    fc.asyncProperty(fc.oneof(number, fc.double({ noNaN: true }).map(String)), async (text) => {
      fc.pre(!text.includes("Infinity"));
      const read = () => parseScenario(inEndpoint(text));
      const [problem] = problemsOf(read).map(([code]) => code);
      if (problem !== undefined) {
        expect(problem).toBe("out_of_range");
        // Only with many digits, a number is refused that JSON would keep.
        const isShort = text.replace(/e.*|\D/g, "").length <= 15 && Math.abs(Number(text)) >= 1e-300;
        if (isShort) expect(isSentAsWritten(text)).toBe(false);
        return;
      }
      const sandbox = createSandbox({ scenario: read() });
      const headers = { "x-api-key": sandbox.secret("main" as never) };
      const body = await (await sandbox.fetch("https://any.example/a", { headers })).text();
      expect(scaled(body)).toBe(scaled(text));
      sent += 1;
    }),
    runs(500),
  );
  expect(sent).toBeGreaterThan(10);
});

test.each(["0xZZ", "0o9", "0x"])(
  "what YAML is told to take for a number, and is none, is refused: %s",
  (text) => {
    const [problem] = problemsOf(() => parseScenario(inEndpoint(`{ x: !!float ${text} }`)));
    expect(problem?.slice(0, 2)).toEqual(["out_of_range", "endpoints.a.body.x"]);
  },
);
