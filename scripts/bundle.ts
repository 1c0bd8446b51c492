import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChunkingContext, CodeSplittingGroup, OutputBundle, Plugin, RolldownOptions } from "rolldown";
import { rolldown } from "rolldown";
import { esmExternalRequirePlugin } from "rolldown/plugins";
import { dts } from "rolldown-plugin-dts";
import { mustRun, typescript } from "./run-program.js";

export type Build = Readonly<{ root: string; entries: Readonly<Record<string, string>>; into: string }>;

/** The entry points in pages. */
export const pageEntries = {
  index: "src/browser.ts",
  msw: "src/integrations/msw-in-pages.ts",
  farmers: "src/library/entries/farmers.ts",
  vitest: "src/integrations/vitest-in-pages.ts",
};
/** The entry points in Node. */
export const entries = {
  index: "src/index.ts",
  msw: "src/integrations/msw.ts",
  farmers: "src/library/entries/farmers.ts",
  node: "src/server/index.ts",
  vitest: "src/integrations/vitest.ts",
};

const usersPackages = ["msw", "vitest"];

const extensionAlias = { ".js": [".ts", ".js"] };

// A process reads few files: dozens of small ones take longer to find and to compile than to run.

/** Chunks: the first whose test a module passes takes it, with everything that it imports. */
const inOrder = (groups: (CodeSplittingGroup & { name: string })[]) =>
  groups.map((group, index) => ({ ...group, priority: groups.length - index }));

const moduleChunks = inOrder([
  // Handlers for msw and servers read base URLs, and handlers need no server.
  { name: "library", test: /\/src\/(?:index|library\/base-url)\.ts$/ },
  { name: "server", test: /\/src\/server\/index\.ts$/ },
]);

// A page that reads no YAML leaves this file out.
const pageChunks = inOrder([{ name: "yaml", test: /\/node_modules\/yaml\// }]);

/** The starts of a process in CommonJS: what each of them imports before it runs. */
const starts = {
  // Handlers for msw read base URLs, and need no server.
  library: [entries.index, "src/library/base-url.ts"],
  // The commands that people and tests start again and again.
  command: ["src/cli/commands/start.ts", "src/cli/commands/exec.ts", "src/cli/commands/keys.ts"],
};

/** A chunk for what both starts import, and one for what else each of them does. */
function chunksOfStarts(root: string): CodeSplittingGroup[] {
  const imported = new Map<string, Set<string>>();
  const isOf = (start: keyof typeof starts, id: string, context: ChunkingContext) => {
    const files = starts[start].map((file) => join(root, file));
    const ids = imported.get(start) ?? importedBy(files, context);
    imported.set(start, ids);
    return ids.has(id);
  };
  const chunk = (name: string, of: readonly (keyof typeof starts)[], priority: number) => ({
    name: (id: string, context: ChunkingContext) => (of.every((one) => isOf(one, id, context)) ? name : null),
    debugName: name,
    priority,
  });
  return [
    chunk("core", ["library", "command"], 2),
    chunk("library", ["library"], 1),
    chunk("command", ["command"], 0),
  ];
}

/** The modules that files import before they run, themselves among them. Throws if one of the files is gone. */
function importedBy(files: readonly string[], context: ChunkingContext): Set<string> {
  const gone = files.filter((file) => context.getModuleInfo(file) === null);
  if (gone.length > 0) throw new Error(`Failed to bundle: no module is ${gone.join(" or ")}`);
  const ids = new Set(files);
  // A set also visits what is added meanwhile.
  for (const id of ids) {
    for (const next of context.getModuleInfo(id)?.importedIds ?? []) ids.add(next);
  }
  return ids;
}

const namedChunks = { esm: moduleChunks, page: pageChunks };

const resolutionIn = (root: string) => ({
  mainFields: ["module", "main"],
  conditionNames: ["node"],
  extensionAlias,
  // For Node, yaml offers CommonJS that requires Node's `process` and `buffer`; these modules require nothing.
  alias: { yaml: join(root, "node_modules/yaml/browser/dist/index.js") },
});

/** Bundles our code and the packages that it uses; returns the files that went in. */
export async function bundle(kind: "esm" | "cjs" | "page", { root, entries, into }: Build) {
  const isPage = kind === "page";
  const bundled = await rolldown({
    cwd: root,
    input: { ...entries },
    // For Node, the runtime of modules would import `node:module`, which pages do not have.
    platform: kind === "cjs" ? "node" : "neutral",
    onLog: failOnWarning,
    experimental: { attachDebugInfo: "none" },
    external: usersPackages,
    resolve: resolutionIn(root),
    plugins: [
      dataAsText,
      // For bundlers: a `require` made with `import.meta.url` fails in CommonJS. Only unused code of Express keeps one.
      ...(kind === "esm" ? [esmExternalRequirePlugin({ external: [/^node:/, ...builtinModules] })] : []),
    ],
  });
  const { output } = await bundled.write({
    dir: into,
    format: kind === "cjs" ? "cjs" : "esm",
    // Names of functions stay for people who read a stack. So do lines: Node prints the one that threw.
    minify: {
      compress: true,
      mangle: { toplevel: false, keepNames: { class: true, function: false } },
      // V8 keeps a byte for each character of an ASCII text, otherwise two.
      codegen: { removeWhitespace: isPage, asciiOnly: true },
    },
    polyfillRequire: false,
    comments: { annotation: true, jsdoc: false, legal: false },
    codeSplitting: { groups: kind === "cjs" ? chunksOfStarts(root) : namedChunks[kind] },
  });
  await bundled.close();
  // A file of a group's test may have moved.
  const names = output.map((chunk) => chunk.name);
  const empty = kind === "cjs" ? [] : namedChunks[kind].filter(({ name }) => !names.includes(name));
  if (empty.length > 0) throw new Error(`Failed to bundle: nothing is in ${empty[0]?.name}`);
  return output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
}

export async function emitTypes(root: string, into: readonly string[]): Promise<void> {
  const cwd = await mkdtemp(join(tmpdir(), "svc-sandbox-types-"));
  const compilerOptions = { noEmit: false, emitDeclarationOnly: true, rootDir: root, outDir: cwd };
  const files = Object.values(entries).map((file) => join(root, file));
  const types = { typeRoots: [join(root, "node_modules/@types")] };
  const settings = { extends: join(root, "tsconfig.json"), include: [], files };
  const project = join(cwd, "tsconfig.json");
  await writeFile(
    project,
    JSON.stringify({ ...settings, compilerOptions: { ...compilerOptions, ...types } }),
  );
  await mustRun("node", [typescript, "--project", project]);
  const declared = Object.entries(entries).map(([name, file]) => [name, file.replace(/ts$/, "d.ts")]);
  const bundled = await rolldown({
    cwd,
    input: Object.fromEntries(declared),
    onLog: failOnWarning,
    // Data: no public type has a part of it.
    external: [...usersPackages, /^node:/, /\.json$/],
    resolve: { extensionAlias: { ".js": [".d.ts"] } },
    plugins: [dts({ dtsInput: true, emitDtsOnly: true }), { name: "c", generateBundle: separateComments }],
  });
  // Without hashes, which depend on the project's folder, and never the name of an entry point.
  for (const dir of into) await bundled.write({ dir, format: "esm", chunkFileNames: "shared-[name].d.ts" });
  await bundled.close();
  await rm(cwd, { recursive: true });
}

// The comment of a member on the line of the member before it is shown for neither.
function separateComments(_options: unknown, bundle: OutputBundle): void {
  for (const file of Object.values(bundle)) {
    if (file.type === "chunk") file.code = file.code.replace(/(?<=[;{]) *(?=\/\*\*)/g, "\n");
  }
}

const failOnWarning: NonNullable<RolldownOptions["onLog"]> = (level, { code = "", message }) => {
  // How long plugins take depends on the machine; what our groups put together is not loaded late anyway.
  const isFine = ["PLUGIN_TIMINGS", "INEFFECTIVE_DYNAMIC_IMPORT"].includes(code);
  if (level === "warn" && !isFine) throw new Error(`Failed to bundle without a warning: ${message}`);
};

/** Writes our JSON as a text to be parsed: an object literal is code, which V8 compiles in ten times the time. */
const dataAsText: Plugin = {
  name: "data-as-text",
  transform(code, id) {
    if (!id.endsWith(".json") || id.includes("/node_modules/")) return null;
    const data = JSON.parse(code);
    const { version, homepage } = data;
    const used = id.endsWith("/package.json") ? { version, homepage } : data;
    const text = JSON.stringify(JSON.stringify(used));
    return { code: `export default JSON.parse(${text});`, moduleType: "js" };
  },
};
