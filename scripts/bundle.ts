import { readFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { type Plugin, rolldown } from "rolldown";
import { parseAst } from "rolldown/parseAst";

/** The packages that are the user's own. */
export const peers: readonly string[] = ["msw", "undici", "vitest", "@playwright/test"];

/** What to bundle, and into which folder. */
export interface Bundling {
  readonly root: string;
  /** Files by the names of their bundles. */
  readonly entries: Readonly<Record<string, string>>;
  readonly into: string;
  readonly format: "esm" | "cjs";
  /** Whether what few worlds need becomes entry points of its own. Default: false. */
  readonly inParts?: boolean;
}

/**
 * Bundles our code and the packages it uses into chunks that load when they are first needed; returns the files that
 * went in. `docs/decisions/0002` says why.
 */
export async function bundle({ root, entries, into, format, inParts = false }: Bundling): Promise<string[]> {
  const needs = findNeeds({
    start: ["src/cli/cli.ts", "src/cli/commands/start.ts"].map((file) => join(root, file)),
    report: [join(root, "src/cli/commands/exec.ts")],
    scenario: scenarioReaders.map((file) => join(root, file)),
    farmers: [join(root, farmerMaker)],
    library: [join(root, "src/index.ts")],
    node: [join(root, "src/node/index.ts")],
  });
  const bundled = await rolldown({
    cwd: root,
    input: { ...entries, ...(inParts && partEntries) },
    // As ES modules for Node, a chunk that browsers load, too, would import `node:module`.
    platform: format === "esm" ? "neutral" : "node",
    onLog(level, { code, message }) {
      // How long our plugins take depends on what else the machine does.
      if (level === "warn" && code !== "PLUGIN_TIMINGS")
        throw new Error(`Failed to bundle without a warning: ${message}`);
    },
    external: [...peers],
    resolve: {
      mainFields: ["main", "module"],
      conditionNames: ["node"],
      extensionAlias: { ".js": [".ts", ".js"] },
      // For Node, yaml offers CommonJS that asks for Node's `process` and `buffer`; its modules ask for nothing.
      alias: { yaml: join(root, "node_modules/yaml/browser/dist/index.js") },
    },
    plugins: [
      ...(inParts ? [cutIntoParts(root)] : []),
      evaluateWhenUsed(root, inParts ? yamlOnly : late),
      needs.plugin,
      droppable,
      ...(inParts ? [] : [inAscii]),
      ...(format === "esm" ? [useBuiltins] : []),
    ],
  });
  // Dozens of small files take longer to find and to link than to run: what an import of the library needs stands in one
  // file. For the command, what a start needs stands apart from what a scenario file, farmers or a report need beside it.
  const { start, report, scenario, farmers, library } = needs;
  const isElsewhere = (id: string) => library.has(id) || scenario.has(id) || farmers.has(id);
  const ofCommand = [
    { name: "core", test: (id: string) => start.has(id) && isElsewhere(id), priority: 4 },
    { name: "start", test: (id: string) => start.has(id), priority: 3 },
    { name: "report", test: (id: string) => report.has(id) && library.has(id), priority: 2 },
    { name: "scenario", test: (id: string) => scenario.has(id), priority: 2 },
    { name: "farmers", test: (id: string) => farmers.has(id), priority: 2 },
  ];
  const groups = [
    ...("cli" in entries ? ofCommand : []),
    { name: "library", test: (id: string) => library.has(id), priority: 1 },
    { name: "node", test: (id: string) => needs.node.has(id), priority: 0 },
  ];
  const { output } = await bundled.write({
    dir: into,
    format,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    minify: { compress: true, mangle: { toplevel: false }, codegen: { removeWhitespace: true } },
    keepNames: false,
    codeSplitting: inParts ? true : { groups },
  });
  await bundled.close();
  return output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
}

/** Finds the modules that some modules need before they run; the sets are filled when all modules are known. */
function findNeeds<Name extends string>(from: Readonly<Record<Name, readonly string[]>>) {
  const sets = Object.fromEntries(Object.keys(from).map((name) => [name, new Set()])) as Record<
    Name,
    Set<string>
  >;
  const plugin: Plugin = {
    name: "find-needs",
    buildEnd() {
      for (const name of Object.keys(from) as Name[]) {
        const waiting = [...from[name]];
        for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
          if (sets[name].has(id)) continue;
          sets[name].add(id);
          if (!id.startsWith(lateMark)) waiting.push(...(this.getModuleInfo(id)?.importedIds ?? []));
        }
      }
    },
  };
  return { ...sets, plugin };
}

const farmerMaker = "src/synthetic/farmers/farmers.ts";
/** Modules that few programs use and that bring large packages or tables; all that they export are functions. */
const late = [
  "src/scenario/interpret-scenario.ts",
  "src/scenario/problems/check-shape.ts",
  "src/scenario/read/yaml.ts",
  farmerMaker,
];
// A page pays for each byte: without this package, whose parts know of each other, the rest is smaller in one piece.
const yamlOnly = ["src/scenario/read/yaml.ts"];
/** The modules that read a scenario file. */
const scenarioReaders = ["src/scenario/parse-scenario.ts", ...late.slice(0, -1)];
const lateMark = "\0late:";

/**
 * Evaluates some modules when one of their functions is first called, and not when the package is imported.
 *
 * They stay in the bundle, for browsers and for other bundlers: `require` is resolved here, and none is left.
 */
function evaluateWhenUsed(root: string, files: readonly string[]): Plugin {
  return {
    name: "evaluate-when-used",
    async resolveId(source, importer, { kind }) {
      if (kind !== "import-statement" || importer === undefined || importer.startsWith(lateMark)) return null;
      const found = await this.resolve(source, importer, { kind, skipSelf: true });
      return found !== null && files.some((file) => join(root, file) === found.id)
        ? lateMark + found.id
        : null;
    },
    async load(id) {
      if (!id.startsWith(lateMark)) return null;
      const file = id.slice(lateMark.length);
      const from = JSON.stringify(file);
      return exportedFunctions(await readFile(file, "utf8"), file)
        .map((name) => `export const ${name} = (...given) => require(${from}).${name}(...given);`)
        .join("\n");
    },
  };
}

/** The names of the functions that a module exports; throws when it exports another value, unless it may. */
function exportedFunctions(text: string, file: string, mayExportMore = false): string[] {
  return parseAst(text, { lang: "ts" }, file).body.flatMap((node) => {
    if (node.type !== "ExportNamedDeclaration" || node.exportKind === "type") return [];
    if (node.declaration?.type === "FunctionDeclaration" && node.declaration.id !== null) {
      return [node.declaration.id.name];
    }
    if (mayExportMore || node.declaration?.type.startsWith("TS")) return [];
    throw new Error(`${file} exports something else than functions: it cannot be evaluated when it is used`);
  });
}

/** The modules of each part. Modules outside of it use only functions of those inside. */
const parts = {
  capture: [
    "src/api/story-sender.ts",
    "src/library/capture.ts",
    "src/library/captured-steps.ts",
    "src/sandbox/story/run-step.ts",
  ],
  farmers: ["src/synthetic/farmers/farmers.ts"],
  preview: [
    "src/api/endpoints/attestations.ts",
    "src/api/endpoints/consent-requests.ts",
    "src/api/endpoints/preview.ts",
    "src/api/endpoints/visible-records.ts",
    "src/api/field-problems.ts",
    "src/api/request-input.ts",
    "src/report/reproduce-preview.ts",
    "src/sandbox/operations/consents.ts",
    "src/sandbox/preview/consent-views.ts",
    "src/sandbox/preview/consents.ts",
  ],
} as const;
type Part = keyof typeof parts;
/** The names of the entry points of parts. */
export const partNames = Object.keys(parts) as Part[];

const entryMark = "\0part:";
const cutMark = "\0cut:";
const partEntries = {
  capture: `${entryMark}capture`,
  farmers: `${entryMark}farmers`,
  preview: `${entryMark}preview`,
};

/**
 * Makes an entry point of each part, which adds the functions of its modules, and lets all other modules ask for them by
 * name (`src/library/parts.ts`).
 */
function cutIntoParts(root: string): Plugin {
  const registry = JSON.stringify(join(root, "src/library/parts.ts"));
  const partOf = (file: string) =>
    partNames.find((name) => parts[name].some((one) => join(root, one) === file));
  const functionsOf = async (file: string) => exportedFunctions(await readFile(file, "utf8"), file, true);
  return {
    name: "cut-into-parts",
    async resolveId(source, importer, { kind }) {
      if (source.startsWith(entryMark)) return source;
      if (importer === undefined || importer.startsWith(entryMark) || importer.startsWith(cutMark))
        return null;
      const found = await this.resolve(source, importer, { kind, skipSelf: true });
      const part = found === null ? undefined : partOf(found.id);
      return part === undefined || part === partOf(importer) ? null : cutMark + found?.id;
    },
    async load(id) {
      if (id.startsWith(entryMark)) {
        const name = id.slice(entryMark.length) as Part;
        const files = parts[name].map((file) => join(root, file));
        const names = await Promise.all(files.map(functionsOf));
        return [
          // The preview shows farmers.
          ...(name === "preview" ? [`import ${JSON.stringify(partEntries.farmers)};`] : []),
          `import { addPart } from ${registry};`,
          ...files.map((file, i) => `import { ${names[i]?.join(", ")} } from ${JSON.stringify(file)};`),
          `addPart(${JSON.stringify(name)}, { ${names.flat().join(", ")} });`,
        ].join("\n");
      }
      if (!id.startsWith(cutMark)) return null;
      const file = id.slice(cutMark.length);
      const calls = (await functionsOf(file)).map(
        (name) => `export const ${name} = (...given) => partOf("${partOf(file)}").${name}(...given);`,
      );
      return [`import { partOf } from ${registry};`, ...calls].join("\n");
    },
  };
}

/** Tells the bundler of a page that it may drop what it does not use of the modules that are evaluated when used. */
const droppable: Plugin = {
  name: "droppable",
  renderChunk: (code) => ({
    code: code.replaceAll(/= (?=__(?:esm|commonJS)Min\()/g, "= /* @__PURE__ */ "),
  }),
};

/** Writes characters beyond ASCII as escapes: V8 keeps one byte for each character of such a text, and two of any other. */
const inAscii: Plugin = {
  name: "in-ascii",
  // Not before: the minifier undoes it.
  generateBundle(_options, output) {
    for (const chunk of Object.values(output)) {
      if (chunk.type !== "chunk") continue;
      chunk.code = chunk.code.replaceAll(
        /[^\0-\x7f]/g,
        (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
      );
    }
  },
};

const builtinMark = "\0builtin:";

/** Leaves the modules of Node outside, and gives them to CommonJS packages without a `require`. */
const useBuiltins: Plugin = {
  name: "use-builtins",
  resolveId(source, _importer, { kind }) {
    if (!isBuiltin(source)) return null;
    return kind === "require-call" ? builtinMark + source : { id: source, external: true };
  },
  load(id) {
    if (!id.startsWith(builtinMark)) return null;
    return `module.exports = process.getBuiltinModule(${JSON.stringify(id.slice(builtinMark.length))});`;
  },
};
