import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { actionRefs } from "../src/scenario/actions.js";
import { scenarioSchema } from "../src/scenario/format/schema.js";
import { interpretScenario } from "../src/scenario/interpret.js";
import { ScenarioError } from "../src/scenario/problems.js";
import type { Scenario } from "../src/scenario/scenario.generated.js";
import type { WrittenScenario } from "../src/scenario/written-scenario.js";
import { readYaml } from "../src/scenario/yaml/read-yaml.js";
import { commentOf, typeOf } from "./scenario-types.js";

const root = new URL("../", import.meta.url);

/** The name tables, which stay in git: a change of them changes every name. Faker loads for nothing else. */
export async function nameTables(): Promise<Record<string, string>> {
  const { nameWords } = await import("./name-words.js");
  return { "src/sandbox/name-words.generated.json": nameWords() };
}

// Not in git. Nothing that this script loads may need one of them.
async function builtFiles(): Promise<Record<string, string>> {
  const scenarios = await bundledScenarios();
  const starter = await readFile(new URL("src/scenario/starter.yaml", root), "utf8");
  return {
    "src/scenario/scenario.generated.ts": `${commentOf(scenarioSchema)}export interface Scenario ${typeOf(scenarioSchema)}\n`,
    "src/scenario/bundled.generated.ts": bundledModule(scenarios),
    // Separate: a sandbox is the same without its story, and only the command line and the server present one.
    "src/scenario/stories.generated.ts": `import type { BundledKeyRefs } from "./bundled.generated.js";

/** The stories of the bundled scenarios as JSON. */
${textsOf("storyTexts", scenarios, ({ story = [] }) => story)}`,
    "src/scenario/starter.generated.ts": `/** The scenario that \`svc-sandbox init\` writes: valid unchanged, every field of the format shown or explained. */
export const starterScenario = ${JSON.stringify(starter)};
`,
  };
}

/** The scenarios of `scenarios/`, checked, each with the one that it extends laid under it. */
async function bundledScenarios(): Promise<Record<string, Scenario>> {
  const files = (await readdir(new URL("scenarios/", root)))
    .filter((name) => /^[\w-]+\.yaml$/.test(name))
    .sort();
  const writtenScenarios = new Map<string, WrittenScenario>();
  for (const name of files) {
    const file = `scenarios/${name}`;
    const text = await readFile(new URL(file, root), "utf8");
    writtenScenarios.set(basename(name, ".yaml"), readYaml(text, file));
  }
  const extendable = {
    findParent: (name: string) => writtenScenarios.get(name),
    knownNames: [...writtenScenarios.keys()],
  };
  const problems = [];
  const scenarios: Record<string, Scenario> = {};
  for (const [name, written] of writtenScenarios) {
    try {
      scenarios[name] = interpretScenario(written, extendable).scenario;
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new ScenarioError(problems);
  return scenarios;
}

function bundledModule(scenarios: Record<string, Scenario>): string {
  const keyRefs = mapValues(scenarios, ({ organizations = {}, timeline = [] }) => [
    ...Object.values(organizations).flatMap(({ keys = {} }) => Object.keys(keys)),
    ...timeline.flatMap((step) => actionRefs(step).newKey ?? []),
  ]);
  const organizationRefs = mapValues(scenarios, ({ organizations = {} }) => Object.keys(organizations));
  return [
    "/** The refs of the keys of each bundled scenario. */",
    refsInterface("BundledKeyRefs", keyRefs),
    "/** The refs of the organizations of each bundled scenario. */",
    refsInterface("BundledOrganizationRefs", organizationRefs),
    "/** The bundled scenarios as JSON, without their stories: most starts use one of them, and to evaluate them all takes long. */",
    textsOf("bundledTexts", scenarios, ({ story: _, ...sandbox }) => sandbox),
  ].join("\n");
}

function textsOf(name: string, scenarios: Record<string, Scenario>, of: (one: Scenario) => unknown): string {
  const texts = mapValues(scenarios, (one) => JSON.stringify(of(one)));
  return `export const ${name}: Readonly<Record<keyof BundledKeyRefs, string>> = ${JSON.stringify(texts, null, 2)};\n`;
}

function refsInterface(name: string, refs: Record<string, readonly string[]>): string {
  const members = Object.entries(refs).map(
    ([scenario, of]) =>
      `  ${JSON.stringify(scenario)}: ${of.map((ref) => JSON.stringify(ref)).join(" | ") || "never"};`,
  );
  return [`export interface ${name} {`, ...members, "}", ""].join("\n");
}

function mapValues<From, To>(record: Record<string, From>, map: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}

// A reader at this moment gets the old file or the new one; an unchanged file is not written.
async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const file = fileURLToPath(new URL(path, root));
    if ((await readFile(file, "utf8").catch(() => undefined)) === text) continue;
    const fresh = `${file}.${process.pid}`;
    await writeFile(fresh, text);
    await rename(fresh, file);
  }
}

/** Writes the files that are not in git; Vitest calls it before it loads a test. */
export async function setup(): Promise<void> {
  await write(await builtFiles());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await setup();
    await write(await nameTables());
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
