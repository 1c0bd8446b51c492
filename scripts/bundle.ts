import { readFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { type Plugin, rolldown } from "rolldown";
import { parseAst } from "rolldown/parseAst";

/** What to bundle, and into which folder. */
export interface Bundling {
  readonly root: string;
  /** Files by the names of their bundles. */
  readonly entries: Readonly<Record<string, string>>;
  readonly into: string;
  readonly format: "esm" | "cjs";
}

/**
 * Bundles our code and the packages it uses into chunks that load when they are first needed; returns the files that
 * went in. `docs/decisions/0002` says why.
 */
export async function bundle({ root, entries, into, format }: Bundling): Promise<string[]> {
  const needs = findNeeds({
    start: [join(root, "src/cli/cli.ts"), join(root, "src/cli/commands/start.ts")],
    library: [join(root, "src/index.ts")],
  });
  const bundled = await rolldown({
    cwd: root,
    input: { ...entries },
    // As ES modules for Node, a chunk that browsers load, too, would import `node:module`.
    platform: format === "esm" ? "neutral" : "node",
    onLog(level, { code, message }) {
      // How long our plugins take depends on what else the machine does.
      if (level === "warn" && code !== "PLUGIN_TIMINGS")
        throw new Error(`Failed to bundle without a warning: ${message}`);
    },
    // The handlers' msw is the user's own.
    external: ["msw"],
    resolve: {
      mainFields: ["main", "module"],
      conditionNames: ["node"],
      extensionAlias: { ".js": [".ts", ".js"] },
      // For Node, yaml offers CommonJS that asks for Node's `process` and `buffer`; its modules ask for nothing.
      alias: { yaml: join(root, "node_modules/yaml/browser/dist/index.js") },
    },
    plugins: [evaluateWhenUsed(root), needs.plugin, droppable, ...(format === "esm" ? [useBuiltins] : [])],
  });
  // Dozens of small files take longer to find and to link than to run: what a start and an import of the library need
  // stands in one file, what only one of them needs in another.
  const groups = [
    { name: "core", test: (id: string) => needs.start.has(id) && needs.library.has(id), priority: 2 },
    { name: "library", test: (id: string) => needs.library.has(id), priority: 1 },
    { name: "start", test: (id: string) => needs.start.has(id), priority: 1 },
  ];
  const { output } = await bundled.write({
    dir: into,
    format,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    minify: { compress: true, mangle: { toplevel: false }, codegen: { removeWhitespace: true } },
    keepNames: false,
    codeSplitting: { groups },
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

/** Modules that few programs use and that bring large packages or tables; all that they export are functions. */
const late = [
  "src/scenario/interpret-scenario.ts",
  "src/scenario/problems/check-shape.ts",
  "src/scenario/read/yaml.ts",
  "src/synthetic/farmers/farmers.ts",
];
const lateMark = "\0late:";

/**
 * Evaluates some modules when one of their functions is first called, and not when the package is imported.
 *
 * They stay in the bundle, for browsers and for other bundlers: `require` is resolved here, and none is left.
 */
function evaluateWhenUsed(root: string): Plugin {
  return {
    name: "evaluate-when-used",
    async resolveId(source, importer, { kind }) {
      if (kind !== "import-statement" || importer === undefined || importer.startsWith(lateMark)) return null;
      const found = await this.resolve(source, importer, { kind, skipSelf: true });
      return found !== null && late.some((file) => join(root, file) === found.id)
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

/** The names of the functions that a module exports; throws when it exports another value. */
function exportedFunctions(text: string, file: string): string[] {
  return parseAst(text, { lang: "ts" }, file).body.flatMap((node) => {
    if (node.type !== "ExportNamedDeclaration" || node.exportKind === "type") return [];
    if (node.declaration?.type === "FunctionDeclaration" && node.declaration.id !== null) {
      return [node.declaration.id.name];
    }
    throw new Error(`${file} exports something else than functions: it cannot be evaluated when it is used`);
  });
}

/** Tells the bundler of a page that it may drop what it does not use of the modules that are evaluated when used. */
const droppable: Plugin = {
  name: "droppable",
  renderChunk: (code) => ({
    code: code.replaceAll(/= (?=__(?:esm|commonJS)Min\()/g, "= /* @__PURE__ */ "),
  }),
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
