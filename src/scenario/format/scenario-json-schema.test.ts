import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../test/support/property-seed.js";
import { checkShape } from "../../schema/check.js";
import { bundledScenarios, scenarioNames } from "../bundled.js";
import descriptions from "./descriptions.json" with { type: "json" };
import { controlBodies } from "./inputs.js";
import { controlBodySchema, scenarioJsonSchema } from "./scenario-json-schema.js";
import { scenarioSchema } from "./schema.js";

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly additionalProperties?: Described | boolean;
  readonly items?: Described;
  readonly anyOf?: readonly Described[];
}

function bareFields({ properties = {}, additionalProperties, items, anyOf = [] }: Described): string[] {
  const own = Object.entries(properties).flatMap(([name, field]) => [
    ...(field.description === undefined ? [name] : []),
    ...bareFields(field).map((inner) => `${name}.${inner}`),
  ]);
  // An alternative with `required` is only a condition.
  const alternatives = anyOf.filter((one) => !("required" in one));
  const inside = [...alternatives, items, additionalProperties].filter((one) => typeof one === "object");
  return [...own, ...inside.flatMap(bareFields)];
}

test("an editor is offered the bundled names", () => {
  const schema = scenarioJsonSchema(["rotation"]) as { properties: Record<string, object> };
  expect(schema.properties.extends).toMatchObject({ anyOf: [{ enum: ["rotation"] }, { type: "string" }] });
});

interface NumberSchema {
  readonly minimum?: number;
  readonly examples?: readonly number[];
  readonly default?: number;
}

/** The numbers inside a part of the schema, with what an editor inserts for each: the default in a list, an example anywhere else, or else 0. */
function numbersIn(part: unknown, isItem = false): { readonly minimum: number; readonly inserted: number }[] {
  if (typeof part !== "object" || part === null) return [];
  const inside = Object.entries(part).flatMap(([name, one]) => numbersIn(one, name === "items"));
  const isNumber = "type" in part && (part.type === "integer" || part.type === "number");
  if (!isNumber) return inside;
  const { minimum = 0, examples = [], default: ofItem } = part as NumberSchema; // its type says so
  return [{ minimum, inserted: (isItem ? ofItem : examples[0]) ?? 0 }, ...inside];
}

test("an editor is offered each name once, and inserts a number that is allowed", () => {
  const schema = scenarioJsonSchema(scenarioNames);
  expect(JSON.stringify(schema.else)).not.toContain('"properties"');
  const numbers = numbersIn(schema);
  expect(numbers.length).toBeGreaterThan(10);
  for (const { minimum, inserted } of numbers) expect(inserted).toBeGreaterThanOrEqual(minimum);
});

const valid = new Ajv2020({ strict: false }).compile(scenarioJsonSchema(scenarioNames));

// Texts that no check beyond the pattern concerns.
const replacements = [
  "one\nline\n",
  1e16,
  -1,
  0,
  1.5,
  true,
  false,
  null,
  "",
  "ok-ref",
  "A".repeat(300),
  [],
  {},
  undefined,
];
const steps = [{}, { after: "1m" }, { at: "1h" }, { say: "Hi." }, { organization: { ref: "bank" } }];
const faults = JSON.parse('[{ "then": {} }, { "then": { "reset": false } }, { "then": { "body": "html" } }]');

test("the JSON Schema accepts exactly the scenarios whose fields the validator accepts", () => {
  const whole = scenarioNames.map((name) => ({ ...bundledScenarios[name], extends: undefined }));
  const changed = fc.record({
    scenario: fc.constantFrom(...whole),
    steps: fc.nat(10_000),
    part: fc.constantFrom<unknown>(...replacements, [{}], ...steps.map((one) => [one]), ...faults, faults),
  });
  fc.assert(
    fc.property(changed, ({ scenario, steps, part }) => {
      const copy = changedAt(JSON.parse(JSON.stringify(scenario)), steps, part);
      expect([copy, checkShape(scenarioSchema, copy).problems.length === 0]).toEqual([copy, valid(copy)]);
    }),
    runs(500),
  );
});

test("the JSON Schema accepts the names and paths of endpoints that the validator accepts", () => {
  const signs = [
    "a",
    "test",
    "/",
    "//",
    ".",
    "%2e",
    "{id}",
    "{",
    ":",
    "$",
    "*",
    "é",
    "%",
    "me",
    "__sandbox",
    "-",
    " ",
  ];
  const word = fc.array(fc.constantFrom(...signs), { maxLength: 5 }).map((parts) => parts.join(""));
  const path = fc
    .oneof(word, fc.constant("/v1/relying-party/me"))
    .map((end) => (end[0] === "/" ? end : `/${end}`));
  fc.assert(
    fc.property(word, fc.oneof(word, path), (name, path) => {
      const scenario = { ...bundledScenarios.active, endpoints: { [name]: { path } } };
      // Of a path, the schema has only its start.
      const problems = checkShape(scenarioSchema, scenario).problems.filter(({ field }) => {
        return field.at(-1) !== "path" || !path.startsWith("/");
      });
      expect([name, path, valid(scenario)]).toEqual([name, path, problems.length === 0]);
    }),
    { ...runs(500), examples: ["test", "live", "retiring"].map((name): [string, string] => [name, "/a"]) },
  );
});

/** The value with one part replaced, the part that a walk with this number reaches. */
function changedAt(value: unknown, walk: number, part: unknown): unknown {
  if (typeof value !== "object" || value === null || walk === 0) return part;
  const members = value as Record<string, unknown>;
  const names = [...Object.keys(members), "seed", "timeline", "story", "faults"];
  const name = names[walk % names.length] as string;
  if (Object.hasOwn(members, name) || !Array.isArray(value)) {
    members[name] = changedAt(members[name], Math.floor(walk / names.length), part);
  }
  return JSON.parse(JSON.stringify(value));
}

test("every field of a scenario and of the control plane's bodies has a description", () => {
  expect(bareFields(scenarioJsonSchema([]))).toEqual([]);
  for (const name of Object.keys(controlBodies) as (keyof typeof controlBodies)[]) {
    expect(bareFields(controlBodySchema(name))).toEqual([]);
  }
});

/** Each description of a schema, by its path. */
function descriptionsIn(
  { description, properties = {}, additionalProperties, items, anyOf = [] }: Described,
  path: readonly string[] = [],
): [path: string, description: string][] {
  const own = description === undefined ? [] : [[path.join("."), description] as [string, string]];
  const inside: [Described | boolean | undefined, ...string[]][] = [
    ...Object.entries(properties).map(([name, one]): [Described, string] => [one, name]),
    [additionalProperties, "<ref>"],
    [items, "<item>"],
    ...anyOf.map((one): [Described] => [one]),
  ];
  const deeper = inside.flatMap(([one, ...step]) =>
    typeof one === "object" ? descriptionsIn(one, [...path, ...step]) : [],
  );
  return [...own, ...deeper];
}

// Where a part of the format is described that is also in other places.
const firstPlaces: readonly [place: RegExp, first: string][] = [
  [/^story\.<item>\.(?=(?:create_key|rotate|revoke|expire|organization|faults)\b)/, "timeline.<item>."],
  [/^timeline\.<item>\.(?=(?:faults|assumptions)\b)/, ""],
  [/^timeline\.<item>\.(?:rotate|revoke|expire)\.actor$/, "timeline.<item>.create_key.actor"],
  [/^timeline\.<item>\.record\.add\b/, "records.<ref>.start.<item>"],
  [/^timeline\.<item>\.create_key\.limits\b/, "organizations.<ref>.keys.<ref>.limits"],
];

test("each description of the published schema is the one of its path", () => {
  const told = new Map(descriptionsIn(scenarioJsonSchema(scenarioNames)));
  const elsewhere = new Map(
    [...told].filter(([path]) => /^(?:faults\.<item>\.then|assumptions)\.\w+$/.test(path)),
  );
  const texts: Readonly<Record<string, string>> = descriptions.scenario;
  for (const [path, text] of Object.entries(texts)) expect([path, told.get(path)]).toEqual([path, text]);
  for (const [path, text] of told) {
    const first = firstPlaces.reduce((place, [pattern, to]) => place.replace(pattern, to), path);
    expect([path, text]).toEqual([path, texts[first] ?? elsewhere.get(first)]);
  }
});

test("a body of the control plane is described by its own paths, also where its shape is a scenario's", () => {
  const own: Readonly<Record<string, Readonly<Record<string, string>>>> = descriptions.control;
  for (const [name, texts] of Object.entries(own)) {
    const told = new Map(descriptionsIn(controlBodySchema(name as keyof typeof controlBodies)));
    for (const [path, text] of Object.entries(texts)) {
      expect([name, path, told.get(path)]).toEqual([name, path, text]);
    }
  }
});
