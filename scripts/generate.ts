import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";
import { interpretScenario } from "../src/scenario/interpret-scenario.js";
import { ScenarioError } from "../src/scenario/problems/scenario-error.js";
import type { FoundScenario } from "../src/scenario/read/extends.js";
import { foundText } from "../src/scenario/read/yaml.js";
import type { Scenario } from "../src/scenario/scenario.generated.js";
import { farmerNames } from "./farmer-names.js";
import { nameWords } from "./name-words.js";
import { resolvedScenarioJsonSchema, scenarioJsonSchema } from "./scenario-json-schema.js";

const root = new URL("../", import.meta.url);

/** Every generated file of the project, by its path from the root of the project. Writes nothing. */
export async function generatedFiles(): Promise<Record<string, string>> {
  return {
    "src/scenario/scenario.generated.ts": await scenarioTypes(),
    "src/scenario/json-schema.generated.ts": jsonSchemaModule(),
    "src/scenario/bundled.generated.ts": bundledModule(await bundledScenarios()),
    "src/synthetic/tables/name-words.generated.json": nameWords(),
    "src/synthetic/farmers/tables/names.generated.json": farmerNames(),
  };
}

function scenarioTypes(): Promise<string> {
  return compile(resolvedScenarioJsonSchema() as never, "Scenario", {
    bannerComment: "// Made by `npm run generate` from src/scenario/format/schema.ts. Do not edit.\n",
    additionalProperties: false,
    ignoreMinAndMaxItems: true,
  });
}

// Made here, because the part of the library that makes it takes longer to load than the checks themselves.
function jsonSchemaModule(): string {
  return [
    "// Made by `npm run generate` from src/scenario/format/schema.ts. Do not edit.",
    "",
    "/** The scenario file as JSON Schema 2020-12, for editors, for other languages, and for our own messages. */",
    `export const scenarioJsonSchema: Readonly<Record<string, unknown>> = ${JSON.stringify(scenarioJsonSchema(), null, 2)};\n`,
  ].join("\n");
}

/** The scenarios of `scenarios/`, checked, each with the one that it extends laid under it. */
async function bundledScenarios(): Promise<Record<string, Scenario>> {
  const files = (await readdir(new URL("scenarios/", root))).filter((name) => name.endsWith(".yaml")).sort();
  const found = new Map<string, FoundScenario>();
  for (const name of files) {
    const file = `scenarios/${name}`;
    found.set(basename(name, ".yaml"), foundText(await readFile(new URL(file, root), "utf8"), file));
  }
  const options = { find: (name: string) => found.get(name), knownNames: [...found.keys()] };
  const problems = [];
  const scenarios: Record<string, Scenario> = {};
  for (const [name, one] of found) {
    try {
      scenarios[name] = interpretScenario(one, options);
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new ScenarioError(problems);
  return scenarios;
}

function bundledModule(scenarios: Record<string, Scenario>): string {
  const keyRefs = mapValues(scenarios, ({ organizations = {}, population }) => [
    ...Object.values(organizations).flatMap(({ keys = {} }) => Object.keys(keys).map(quoted)),
    ...(population === undefined ? [] : [template(`${anyOrganization}-key-${anyNumber}`)]),
  ]);
  const organizationRefs = mapValues(scenarios, ({ organizations = {}, population }) => [
    ...Object.keys(organizations).map(quoted),
    ...(population === undefined ? [] : [template(anyOrganization)]),
  ]);
  return [
    "// Made by `npm run generate` from scenarios/*.yaml. Do not edit.",
    'import type { Scenario } from "./scenario.generated.js";',
    "",
    "/** The refs of the keys of each bundled scenario. */",
    refsInterface("BundledKeyRefs", keyRefs),
    "/** The refs of the organizations of each bundled scenario. */",
    refsInterface("BundledOrganizationRefs", organizationRefs),
    "/** The name of a bundled scenario. */",
    `export type ScenarioName = ${unionOf(Object.keys(scenarios).map(quoted))};`,
    "",
    "export const bundledScenarios: Readonly<Record<ScenarioName, Scenario>> = ",
  ]
    .join("\n")
    .concat(JSON.stringify(scenarios, null, 2), ";\n");
}

function refsInterface(name: string, refs: Record<string, readonly string[]>): string {
  const members = Object.entries(refs).map(
    ([scenario, of]) => `  ${JSON.stringify(scenario)}: ${unionOf(of)};`,
  );
  return [`export interface ${name} {`, ...members, "}", ""].join("\n");
}

function unionOf(types: readonly string[]): string {
  return types.join(" | ") || "never";
}

// Of a population the compiler knows no more than how its refs are formed.
const anyNumber = ["$", "{number}"].join("");
const anyOrganization = `organization-${anyNumber}`;

function template(text: string): string {
  return `\`${text}\``;
}

function quoted(name: string): string {
  return JSON.stringify(name);
}

function mapValues<From, To>(record: Record<string, From>, map: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    for (const [path, text] of Object.entries(await generatedFiles()))
      await writeFile(new URL(path, root), text);
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
