import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CodeSplittingGroup, OutputBundle, Plugin, RolldownOptions } from "rolldown";
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

/** Chunks: the first whose test a module passes takes it, with everything that it imports. */
const inOrder = (groups: CodeSplittingGroup[]) =>
  groups.map((group, index) => ({ ...group, priority: groups.length - index }));

// An import reads one file: dozens of small ones take longer to find and to link than to run.
const moduleChunks = inOrder([
  // Handlers for msw and servers read base URLs, and handlers need no server.
  { name: "library", test: /\/src\/(?:index|rules\/base-url)\.ts$/ },
  { name: "server", test: /\/src\/server\/index\.ts$/ },
]);

// A start of a bundled scenario reads `core`, `server` and `start`, and the others when it uses them.
const commonJsChunks = inOrder([
  {
    name: "core",
    test: /(?:\/src\/(?:api\/(?!variation\/words)|rules\/|sandbox\/)|\/src\/(?:library\/web-platform|report\/(?:plain-text|curl-line)|scenario\/(?:bundled|problems))\.|^(?!.*node_modules).*\/package\.json$)/,
  },
  { name: "farmers", test: /\/src\/farmers\// },
  {
    name: "checks",
    test: /\/src\/scenario\/(?:format\/check-input|format\/inputs|parse-scenario|warnings)\.ts$/,
  },
  { name: "report", test: /\/src\/report\/report\.ts$/ },
  { name: "library", test: /\/src\/index\.ts$/ },
  {
    name: "server",
    test: /\/src\/(?:server\/(?:serve|open-sandbox|load-scenario)|node\/(?:files\/(?:scenario-files|lock)|package-files))\.ts$/,
  },
  { name: "start", test: /\/src\/cli\/(?:cli|commands\/start)\.ts$/ },
  {
    name: "report-layout",
    test: /\/src\/(?:report\/report-layout|cli\/(?:report\/(?:thresholds|github-annotations|report-files)|files\/output-file))\.ts$/,
  },
  { name: "run-command", test: /\/src\/cli\/run\/(?:run-command|command-signals|taken-signals)\.ts$/ },
  { name: "client-variables", test: /\/src\/cli\/files\/client-variables\.ts$/ },
  { name: "run-client", test: /\/src\/cli\/run\/(?:run-client|why-no-run)\.ts$/ },
  { name: "dry-run", test: /\/src\/node\/(?:scenario-warnings|dry-run)\.ts$/ },
]);

// A page that reads no YAML leaves this file out.
const pageChunks = [{ name: "yaml", test: /\/node_modules\/yaml\// }];

const chunks = { esm: moduleChunks, cjs: commonJsChunks, page: pageChunks };

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
      ...(kind === "esm"
        ? []
        : [{ name: "without-waiting", transform: (code: string) => withoutWaiting(code, isPage) }]),
      ...(kind === "cjs" ? [readLate] : []),
      // For bundlers: a `require` made with `import.meta.url` fails in CommonJS. Only unused code of Express keeps one.
      ...(kind === "esm" ? [esmExternalRequirePlugin({ external: [/^node:/, ...builtinModules] })] : []),
      inAscii,
    ],
  });
  const { output } = await bundled.write({
    dir: into,
    format: kind === "cjs" ? "cjs" : "esm",
    // Names of functions stay for people who read a stack. So do lines: Node prints the one that threw.
    minify: {
      compress: true,
      mangle: { toplevel: false, keepNames: { class: true, function: false } },
      codegen: { removeWhitespace: isPage },
    },
    polyfillRequire: false,
    comments: { annotation: true, jsdoc: false, legal: false },
    codeSplitting: { groups: chunks[kind] },
  });
  await bundled.close();
  // Of a module for bundlers, which cannot wait when they make CommonJS.
  const waiting = join(into, "msw.js");
  if (kind === "esm") {
    await writeFile(join(into, "msw-bundled.js"), withoutWaiting(await readFile(waiting, "utf8"), true));
  }
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

/** Loads packages of the user immediately: CommonJS cannot wait for them, and a page has them in its bundle. */
function withoutWaiting(code: string, isImported: boolean): string {
  const [load, name] = /\(\) => import\("([^"]+)"\)/.exec(code) ?? [];
  if (load === undefined || !code.includes("await usersPackage(")) return code;
  const loaded = isImported ? "loaded" : `require("${name}")`;
  const start = isImported ? `import * as loaded from "${name}";\n` : "";
  return start + code.replace("await usersPackage(", "usersPackage(").replace(load, `() => ${loaded}`);
}

/**
 * Reads these chunks of CommonJS when they are first used: most runs never need them. Chunks export values, not getters, of
 * which a start would compile hundreds: no binding changes after its module has run.
 */
const readLate: Plugin = {
  name: "read-late",
  renderChunk(code, { isEntry }) {
    // Tests may replace a property of an entry point, so `createSandbox` has no getter.
    const names = isEntry ? "farmers|checks" : "farmers|checks|library|report";
    const late = new RegExp(`^const (\\w+) = (require\\("\\./(?:${names})-[^"]+"\\));$`, "gm");
    return [...code.matchAll(late)].reduce(
      (text, [line, name, required]) =>
        text
          .replaceAll(`${name}.`, `${name}().`)
          .replaceAll(
            /^exports\.(\w+) = (\w+\(\)\.\w+);$/gm,
            'Object.defineProperty(exports, "$1", { enumerable: true, get: () => $2 });',
          )
          .replace(line, `let ${name}_read;\nconst ${name} = () => (${name}_read ??= ${required});`),
      code.replaceAll(exportedGetter, "exports.$1 = $2;"),
    );
  },
};

const exportedGetter =
  /^Object\.defineProperty\(exports, ["'](.+)["'], \{\s+enumerable: true,\s+get: function ?\(\) \{\s+return ([\w$]+);\s+\}\s+\}\);$/gm;

/** Writes characters beyond ASCII as escapes: V8 keeps a byte for each character of such a text, otherwise two. */
const inAscii: Plugin = {
  name: "in-ascii",
  // Not before: the minifier undoes it.
  generateBundle(_options, output) {
    for (const chunk of Object.values(output)) {
      if (chunk.type !== "chunk") continue;
      const ascii = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
      chunk.code = chunk.code.replaceAll(/[^\0-\x7f]/g, ascii);
    }
  },
};
