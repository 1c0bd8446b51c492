import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { pageOf, root, sectionOf } from "../support/pages.js";

// The layers: an import points left only, a package has one layer, no cycles, and left of `node` there is no Node.

/** The layers of the core, each of which may import those before it; the exceptions are below. */
const core = ["schema", "rules", "scenario", "sandbox", "farmers", "api", "report", "runs", "library"];

/** The layers that only run in Node, likewise. */
const nodeLayers = ["node", "server"];

const before = (layers: readonly string[], name: string) => layers.slice(0, layers.indexOf(name));

/** The layers that each layer may import. */
const leftOf: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(core.map((name) => [name, before(core, name)])),
  // They do not know each other.
  farmers: ["schema", "rules", "sandbox"],
  compare: ["schema", "rules", "scenario", "sandbox", "api", "report", "node"],
  certify: core,
  // The entry point `svc-sandbox`, in Node and in pages.
  "index.ts": core,
  "browser.ts": core,
  ...Object.fromEntries(nodeLayers.map((name) => [name, [...core, ...before(nodeLayers, name)]])),
  cli: [...core, ...nodeLayers, "compare", "certify"],
  integrations: [...core, ...nodeLayers, "index.ts"],
  // Of these, only msw runs in browsers.
  "integrations/msw-handlers.ts": core,
  "integrations/msw.ts": ["index.ts", "integrations", "library"],
  "integrations/msw-in-pages.ts": ["browser.ts", "integrations", "library"],
  "integrations/vitest-in-pages.ts": core,
  // Knows only the control plane's HTTP.
  dashboard: [],
};

/** The only file of the dashboard that may import from other layers: types of views. */
const dashboardTypes = "src/dashboard/control/responses.ts";

/** Globals that only Node has. */
const ofNode = /\bprocess\.|\bBuffer\.|\bBuffer\(|\b__dirname\b|\brequire\(/;

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, "");

const onlyInNode = [...nodeLayers, "compare", "integrations", "cli"];

const layerOf = (file: string) => file.split("/")[1] as string;

/** Whose rights a file has: its layer's, or its own. */
const rightsOf = (file: string) => (file.slice(4) in leftOf ? file.slice(4) : layerOf(file));

/** The text of each source file. */
const sourcesIn = (folder: string, isSource = /(?<!\.test)\.tsx?$/) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => isSource.test(file))
    .map((file) => [`${folder}/${file}`, readFileSync(join(root, folder, file), "utf8")] as const);

const sources = new Map<string, string>(sourcesIn("src"));

/** What each file imports, types included: packages by their names, files by their paths. */
const imports = new Map([...sources].map(([file, text]) => [file, importsOf(file, text)]));

function importsOf(file: string, text: string): string[] {
  const { importedFiles } = ts.preProcessFile(text);
  return importedFiles.map(({ fileName }) =>
    fileName.startsWith(".") ? sourceAt(posix.join(posix.dirname(file), fileName)) : fileName,
  );
}

function sourceAt(path: string): string {
  return [".ts", ".tsx"].map((end) => path.replace(/\.js$/, end)).find((file) => sources.has(file)) ?? path;
}

/** The rows of the table of packages: their names, and the folder that imports them. */
const packageRows = [
  ...sectionOf("scripts/README.md", "Packages").matchAll(/^\| (?!package )([@a-z].*?) \| (.*?) \| .+ \|$/gm),
].map(([, names = "", folder = ""]) => ({ names: names.split(", "), layer: folder.replaceAll("`", "") }));

/** The packages of each layer, as scripts/README.md lists them; `@scope` is each package of the scope. */
const packagesOf = new Map<string, string[]>();
for (const { names, layer } of packageRows) {
  packagesOf.set(layer, [...(packagesOf.get(layer) ?? []), ...names]);
}

const isOf = (name: string) => (imported: string) => imported === name || imported.startsWith(`${name}/`);

/** The files that read the version of the package. No page has one of them. */
const readsVersion = ["src/node/package-files.ts", "src/runs/current-run.ts"];

/** Whether a file may import this. */
function isAllowed(file: string, imported: string): boolean {
  const layer = layerOf(file);
  if (imported.startsWith("src/")) {
    if (file === dashboardTypes) return true;
    const rights = rightsOf(file);
    return layerOf(imported) === rights || leftOf[rights]?.includes(layerOf(imported)) === true;
  }
  if (imported === "package.json") return readsVersion.includes(file);
  if (imported.startsWith("node:")) return onlyInNode.includes(rightsOf(file));
  return packagesOf.get(layer)?.some((name) => isOf(name)(imported)) === true;
}

/** What imports what, by name. */
type Graph = ReadonlyMap<string, Iterable<string>>;

/** The groups that import each other in a circle. */
function cycles(graph: Graph): string[][] {
  const reached = new Map([...graph.keys()].map((name) => [name, reachableFrom(graph, name)]));
  const inCycle = [...reached].filter(([name, others]) => others.has(name)).map(([name]) => name);
  const groups = inCycle.map((name) =>
    inCycle.filter((one) => reached.get(name)?.has(one) && reached.get(one)?.has(name)),
  );
  return [...new Map(groups.map((group) => [group.join(), group])).values()];
}

function reachableFrom(graph: Graph, name: string): Set<string> {
  const found = new Set<string>();
  const waiting = [...(graph.get(name) ?? [])];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    waiting.push(...(graph.get(next) ?? []));
  }
  return found;
}

/** What the entries of each folder inside a layer import from each other. */
function importsInside(): Map<string, Map<string, Set<string>>> {
  const folders = new Map<string, Map<string, Set<string>>>();
  for (const [file, all] of imports) {
    for (const imported of all.filter((one) => sources.has(one))) {
      const [from, to] = [file.split("/"), imported.split("/")];
      const depth = from.findIndex((part, index) => part !== to[index]);
      if (depth < 2) continue;
      const folder = from.slice(0, depth).join("/");
      const graph = folders.get(folder) ?? new Map<string, Set<string>>();
      folders.set(folder, graph);
      const one = from[depth] as string;
      graph.set(one, (graph.get(one) ?? new Set()).add(to[depth] as string));
    }
  }
  return folders;
}

test("each import is read: of a package, of another layer, of JSON, and of every file that has one", () => {
  expect(imports.get("src/scenario/yaml/read-yaml.ts")).toContain("yaml");
  expect(imports.get("src/rules/keys/find-keys.ts")).toContain("src/rules/keys/key-text.ts");
  const without = [...sources].filter(
    ([file, text]) => /^import\b|^export .*\bfrom "/m.test(text) && imports.get(file)?.length === 0,
  );
  expect(without.map(([file]) => file)).toEqual([]);
  const missing = [...imports].flatMap(([file, all]) =>
    all
      .filter((one) => one.startsWith("src/") && !existsSync(join(root, one)))
      .map((one) => `${file} imports ${one}`),
  );
  expect(missing).toEqual([]);
});

test("CONTRIBUTING is short, and its tree, its rule and its questions name what exists", () => {
  const page = pageOf("CONTRIBUTING.md");
  expect(page.trimEnd().split("\n").length).toBeLessThanOrEqual(130);
  const layers = new Set([...sources.keys()].map((file) => file.split("/")[1]));
  layers.delete("index.ts");
  layers.delete("browser.ts");
  const listed = [...page.matchAll(/^src\/(\w+) {2,}/gm)].map(([, name]) => name);
  expect(listed.sort()).toEqual([...layers].sort());

  // The files of a question are in `src`, except tests, and a name with its file is in that file.
  const questions = sectionOf("CONTRIBUTING.md", "From file to file");
  const files = [...questions.matchAll(/`([a-z]+\/[\w./-]+\.tsx?)`/g)].map(([, file = ""]) => {
    return file.startsWith("test/") ? file : `src/${file}`;
  });
  expect(files.length).toBeGreaterThan(25);
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  const inFiles = [...questions.matchAll(/`(\w+)` in `([a-z]+\/[\w./-]+\.tsx?)`/g)];
  expect(inFiles.length).toBeGreaterThan(3);
  const missing = inFiles.filter(
    ([, name, file]) => !new RegExp(`\\b${name}\\b`).test(pageOf(`src/${file}`)),
  );
  expect(missing.map(([text]) => text)).toEqual([]);
});

test("the pages for contributors name files and types that exist", () => {
  const extending = pageOf("docs/contributing/extending.md");
  const named = [...extending.matchAll(/`((?:src|test|docs|scenarios|scripts)\/[\w./-]+\w)`/g)];
  expect(named.length).toBeGreaterThan(40);
  expect(named.map(([, file = ""]) => file).filter((file) => !existsSync(join(root, file)))).toEqual([]);

  const words =
    pageOf("docs/contributing/words.md")
      .match(/^\| [a-z, ]+ \|.*$/gm)
      ?.slice(1) ?? [];
  expect(words.length).toBe(16);
  const types = words.flatMap((row) => [...row.matchAll(/`([A-Z]\w+)`/g)].map(([, type]) => type));
  const declared = [...sources.values()].join("\n");
  const undeclared = types.filter(
    (type) => !new RegExp(`export (?:interface|type|class) ${type}\\b`).test(declared),
  );
  expect(undeclared).toEqual([]);
});

test("scripts/README.md lists each package that src imports, with the only folder that does", () => {
  const unused = [...packagesOf]
    .filter(([layer]) => layer !== "at build time")
    .flatMap(([layer, names]) =>
      names.filter(
        (name) => ![...imports].some(([file, all]) => layerOf(file) === layer && all.some(isOf(name))),
      ),
    );
  expect(unused).toEqual([]);
});

test("a file imports only what its layer may", () => {
  const offenders = [...imports].flatMap(([file, all]) =>
    all.filter((one) => !isAllowed(file, one)).map((one) => `${file} may not import ${one}`),
  );
  expect(offenders).toEqual([]);
});

test("no file imports itself by way of others, types included, in scripts and bench as well", () => {
  const tools = ["scripts", "bench"]
    .flatMap((folder) => sourcesIn(folder))
    .map(([file, text]) => [file, importsOf(file, text)] as const);
  expect(tools.length).toBeGreaterThan(20);
  expect(cycles(new Map([...imports, ...tools]))).toEqual([]);
});

test("inside a layer, folders import each other one way only", () => {
  const folders = importsInside();
  expect(folders.get("src/api")?.get("story")).toContain("handle.ts");
  const found = [...folders].flatMap(([folder, graph]) => cycles(graph).map((names) => [folder, ...names]));
  expect(found).toEqual([]);
});

test("the dashboard imports types of views, and no value", () => {
  expect(sources.get(dashboardTypes)).not.toMatch(/^(?:im|ex)port (?!type\b)/m);
});

test("left of node, the code runs unchanged in a browser", () => {
  const found = [...sources].filter(([, text]) => ofNode.test(withoutComments(text))).map(([file]) => file);
  expect(found).toContain("src/node/platform.ts");
  expect(found.filter((file) => !onlyInNode.includes(rightsOf(file)))).toEqual([]);
});

test("package.json declares each package that code, tests, bench and scripts import", () => {
  const { name, devDependencies } = JSON.parse(pageOf("package.json"));
  const declared = [name, ...Object.keys(devDependencies)];
  const packages = ["src", "test", "bench", "scripts"]
    .flatMap((folder) => sourcesIn(folder, /\.tsx?$/))
    .flatMap(([file, text]) => packagesIn(text).map((imported) => ({ file, imported })));
  expect(packages).toContainEqual({ file: "src/cli/run-command.ts", imported: "cross-spawn" });
  expect(packages.filter(({ imported }) => !declared.some((one) => isOf(one)(imported)))).toEqual([]);
});

function packagesIn(text: string): string[] {
  const imported = ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
  return imported.filter((one) => !one.startsWith(".") && !one.startsWith("node:"));
}

test.each([
  ["src/schema/check.ts", "src/rules/keys/redact.ts"],
  ["src/rules/outcomes.ts", "node:crypto"],
  ["src/scenario/yaml/read-yaml.ts", "src/sandbox/scenario-records.ts"],
  ["src/api/handle.ts", "src/node/platform.ts"],
  ["src/server/sockets/respond.ts", "yaml"],
  ["src/node/files/lock.ts", "src/server/serve.ts"],
  ["src/integrations/msw-handlers.ts", "src/node/platform.ts"],
  ["src/integrations/msw-in-pages.ts", "src/index.ts"],
  ["src/server/sockets/respond.ts", "left-pad"],
  ["src/cli/cli.ts", "preact"],
])("%s may not import %s", (file, imported) => expect(isAllowed(file, imported)).toBe(false));

test("an exported name is declared in one file", () => {
  // The fixtures export the runner's `test` with a sandbox; the entry points for pages have the names of those for Node.
  const others = [
    "src/integrations/vitest.ts",
    "src/browser.ts",
    "src/integrations/msw-in-pages.ts",
    "src/integrations/vitest-in-pages.ts",
  ];
  const declared = [...sources]
    .filter(([file]) => !others.includes(file))
    .flatMap(([file, text]) => exportedNames(text).map((name) => ({ name, file })));
  expect(declared).toContainEqual({ name: "endTimeout", file: "src/library/web-platform.ts" });
  const repeated = declared.filter(({ name, file }) =>
    declared.some((other) => other.name === name && other.file !== file),
  );
  expect(repeated.map(({ name, file }) => `${name} ${file}`).sort()).toEqual([]);
});

/** The names that a file declares and exports, without those of other files. */
function exportedNames(text: string): string[] {
  const declarations = text.matchAll(/^export (?:async )?(?:function|const|interface|type|class)\*? (\w+)/gm);
  const members = text.matchAll(/^export const \{([^}]*)\}/gm);
  return [
    ...Array.from(declarations, ([, name = ""]) => name),
    ...Array.from(members, ([, list = ""]) =>
      list.split(",").map((one) => one.split(":").at(-1)?.trim() ?? ""),
    ).flat(),
  ];
}

test("a test next to its file reads no file, opens no connection and starts no program", () => {
  const tests = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".test.ts"),
  );
  expect(tests.length).toBeGreaterThan(30);
  const io = /"node:(?:fs|child_process)"|createServer\(|support\/(?:temporary-folder|servers|run-cli)/;
  expect(tests.filter((file) => io.test(readFileSync(join(root, "src", file), "utf8")))).toEqual([]);
});
