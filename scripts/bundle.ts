import { join } from "node:path";
import { type Plugin, rolldown } from "rolldown";
import { addedByPage, cutParts, lateParts, pageParts, partEntries, readWhenCalled } from "./parts.js";

/** The packages that are the user's own. */
export const peers: readonly string[] = ["msw", "undici", "vitest", "@playwright/test"];

/** What to bundle, and into which folder. */
export interface Bundling {
  readonly root: string;
  /** Files by the names of their bundles. */
  readonly entries: Readonly<Record<string, string>>;
  readonly into: string;
  /** CommonJS for Node, or ES modules for pages. */
  readonly format: "cjs" | "esm";
  /** The text of entry points that are no files, by their names. Default: none. */
  readonly texts?: Readonly<Record<string, string>>;
}

const textMark = "\0text:";

/** The files that went into bundles, and the names that each entry point exports. */
export interface Bundled {
  readonly modules: readonly string[];
  readonly exports: Readonly<Record<string, readonly string[]>>;
}

// The names of functions stay, for whoever reads a stack.
export const minify = { compress: true, mangle: { toplevel: false }, codegen: { removeWhitespace: true } };

/** Bundles our code and the packages it uses into chunks that load when they are first needed (`docs/decisions/0002`). */
export async function bundle({ root, entries, into, format, texts = {} }: Bundling): Promise<Bundled> {
  const isPage = format === "esm";
  const [parts, cut] = isPage ? [pageParts, addedByPage(root)] : [lateParts, readWhenCalled];
  const inRoot = (files: readonly string[]) => files.map((file) => join(root, file));
  const needs = findNeeds({
    library: inRoot(["src/index.ts"]),
    server: inRoot(["src/serve/index.ts"]),
    command: inRoot(["src/cli/cli.ts", "src/cli/commands/start.ts"]),
    late: inRoot(Object.values(lateParts).flat()),
    checks: inRoot(lateParts.checks),
  });
  const bundled = await rolldown({
    cwd: root,
    input: {
      ...entries,
      ...Object.fromEntries(Object.keys(texts).map((name) => [name, textMark + name])),
      ...partEntries(parts, cut),
    },
    // For Node, a chunk that browsers load, too, would import `node:module`.
    platform: isPage ? "neutral" : "node",
    onLog(level, { code, message }) {
      // How long our plugins take depends on what else the machine does.
      if (level === "warn" && code !== "PLUGIN_TIMINGS")
        throw new Error(`Failed to bundle without a warning: ${message}`);
    },
    external: [...peers],
    resolve: {
      mainFields: ["module", "main"],
      conditionNames: ["node"],
      extensionAlias: { ".js": [".ts", ".js"] },
      // For Node, yaml offers CommonJS that asks for Node's `process` and `buffer`; its modules ask for nothing.
      alias: { yaml: join(root, "node_modules/yaml/browser/dist/index.js") },
    },
    plugins: [
      {
        name: "texts",
        resolveId: (id) => (id.startsWith(textMark) ? id : null),
        load: (id) => (id.startsWith(textMark) ? texts[id.slice(textMark.length)] : null),
      },
      cutParts(root, parts, cut),
      withoutWaiting(isPage),
      ...(isPage ? [] : [plainExports, inAscii]),
      needs.plugin,
    ],
  });
  // Dozens of small files take longer to find and to link than to run. So what an import of the library needs stands in
  // one file, what a server needs beside it in another, what the command needs beside both in a third; and what a late
  // part needs stands in none of the last two.
  const { library, server, command, late, checks } = needs;
  const groups = [
    { name: "core", test: (id: string) => library.has(id), priority: 4 },
    { name: "shared", test: (id: string) => command.has(id) && late.has(id), priority: 3 },
    { name: "server", test: (id: string) => server.has(id), priority: 2 },
    { name: "start", test: (id: string) => command.has(id), priority: 1 },
    { name: "checks", test: (id: string) => checks.has(id), priority: 0 },
  ];
  // A page that reads no YAML leaves this file out.
  const pageGroups = [{ name: "yaml", test: /[\\/]node_modules[\\/]yaml[\\/]/ }];
  const { output } = await bundled.write({
    dir: into,
    format,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    minify,
    keepNames: false,
    codeSplitting: { groups: isPage ? pageGroups : groups },
  });
  await bundled.close();
  const chunks = output.flatMap((chunk) => (chunk.type === "chunk" ? [chunk] : []));
  return {
    modules: chunks.flatMap(({ moduleIds }) => moduleIds),
    exports: Object.fromEntries(
      chunks.filter(({ isEntry }) => isEntry).map(({ name, exports }) => [name, exports]),
    ),
  };
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
          waiting.push(...(this.getModuleInfo(id)?.importedIds ?? []));
        }
      }
    },
  };
  return { ...sets, plugin };
}

/** Loads packages of the user at once: CommonJS cannot wait for them, and a page has them in its bundle. */
function withoutWaiting(isPage: boolean): Plugin {
  return {
    name: "without-waiting",
    transform(code) {
      const [load, name] = /\(\) => import\("([^"]+)"\)/.exec(code) ?? [];
      if (load === undefined || !code.includes("await usersPackage(")) return null;
      const loaded = isPage ? "loaded" : `require("${name}")`;
      const start = isPage ? `import * as loaded from "${name}";\n` : "";
      return start + code.replace("await usersPackage(", "usersPackage(").replace(load, `() => ${loaded}`);
    },
  };
}

/** Exports constants from chunks of CommonJS as values: a getter is a function to read, and to make, for each. */
const plainExports: Plugin = {
  name: "plain-exports",
  renderChunk(code) {
    const getter =
      /Object\.defineProperty\(exports, ["'](\S+)["'], \{\s+enumerable: true,\s+get: function ?\(\) \{\s+return ([\w$]+);\s+\}\s+\}\);/g;
    const declared = [...code.matchAll(/^(?:const|class|(?:async )?function\*?) ([\w$]+)/gm)];
    const constants = new Set(declared.map(([, name]) => name));
    return {
      code: code.replaceAll(getter, (whole, name, value) =>
        constants.has(value) ? `exports.${name} = ${value};` : whole,
      ),
    };
  },
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
