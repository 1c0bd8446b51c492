import { join } from "node:path";
import { type Plugin, rolldown } from "rolldown";

/** What to bundle, and into which folder. */
export interface Bundling {
  readonly root: string;
  /** Files by the names of their bundles. */
  readonly entries: Readonly<Record<string, string>>;
  readonly into: string;
  readonly format: "esm" | "cjs";
}

/**
 * Bundles our code and the packages it uses into chunks that load when they are first needed; answers the files that
 * went in. `docs/decisions/0002` says why.
 */
export async function bundle({ root, entries, into, format }: Bundling): Promise<string[]> {
  const bundled = await rolldown({
    cwd: root,
    input: { ...entries },
    platform: "node",
    // The handlers' msw is the user's own.
    external: ["msw"],
    resolve: {
      extensionAlias: { ".js": [".ts", ".js"] },
      // For Node, yaml offers CommonJS that asks for Node's `process` and `buffer`; its modules ask for nothing.
      alias: { yaml: join(root, "node_modules/yaml/browser/dist/index.js") },
    },
    plugins: format === "esm" ? [requireWithoutImport] : [],
  });
  const { output } = await bundled.write({
    dir: into,
    format,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    minify: { compress: true, mangle: { toplevel: false }, codegen: { removeWhitespace: true } },
    keepNames: false,
    codeSplitting: { groups: [...alwaysTogether] },
  });
  await bundled.close();
  return output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
}

// Files that every start needs stand together: dozens of small ones take longer to find and to link than to run. A room
// is one file as a whole, so that files need each other only from right to left, as rooms do. Nothing in these may lead
// to a large package.
const light =
  "bundled|population|format/(?:ref|time)|problems/(?:excerpt|scenario-error|words)|read/source|rules/(?:facts|faults|refs)";
const ofServer = "server/(?:lazy-control|listen|serve-runtime)|platform|files/(?:load-scenario|write-file)";
const ofStart =
  "command|exit-codes|flags|io|key-rows|open-scenario|terminal|serve/(?:banner|client-environment|log|serve-options)|story/step-line";
const alwaysTogether = [
  // What farmers are made from is a file of its own, which most starts do not load.
  {
    name: "domain",
    test: /\/src\/(?:domain\/|synthetic\/(?!farmers\/)|report\/(?:plain-text|render\/document))/,
    priority: 4,
  },
  { name: "scenario", test: new RegExp(`/src/scenario/(?:${light})(?:\\.generated)?\\.ts$`), priority: 3 },
  { name: "sandbox", test: /\/src\/sandbox\//, priority: 2 },
  { name: "api", test: /\/src\/api\//, priority: 1 },
  { name: "server", test: new RegExp(`/src/node/(?:${ofServer})\\.ts$`) },
  { name: "words", test: new RegExp(`/src/cli/(?:${ofStart})\\.ts$`) },
];

/**
 * Takes the import of `node:module` out of the code that every chunk shares: browsers load these chunks too.
 *
 * What is still required by a bundled CommonJS package is a module of Node's own, in chunks that only Node loads.
 */
const requireWithoutImport: Plugin = {
  name: "require-without-import",
  generateBundle(_options, output) {
    const shared = Object.values(output).filter((chunk) => chunk.fileName.startsWith("rolldown-runtime"));
    for (const chunk of shared) {
      if (chunk.type !== "chunk") continue;
      const code = chunk.code
        .replace(/import\s*\{\s*createRequire\s*\}\s*from\s*"node:module";/, "")
        .replace(
          /(?:\/\* @__PURE__ \*\/ )?\bcreateRequire\(import\.meta\.url\)/,
          '(name=>{let found=process.getBuiltinModule(name);if(!found)throw Error("Cannot find module "+name);return found})',
        );
      if (/createRequire|node:/.test(code)) throw new Error(`${chunk.fileName} still needs Node: ${code}`);
      chunk.code = code;
    }
  },
};
