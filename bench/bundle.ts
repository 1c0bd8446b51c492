import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** The programs that run in processes of their own, as files that any Node can run. */
export interface Bundle {
  readonly server: string;
  readonly client: string;
  readonly library: string;
  readonly farmers: string;
  /** Where they lie; other files of a run may lie there too. */
  readonly folder: string;
  readonly remove: () => Promise<void>;
}

/**
 * Bundles the server, the client, the user of the library and the maker of farmers into the system's temporary folder, with the options of the package's own build.
 *
 * What a command line cannot do is measured with these: a scenario of a million keys, a look at the heap.
 */
export async function bundlePrograms(): Promise<Bundle> {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const folder = await mkdtemp(join(tmpdir(), "svc-sandbox-bench-"));
  const bundle = await rolldown({
    cwd: root,
    input: {
      server: "bench/server.ts",
      client: "bench/client.ts",
      library: "bench/library-program.ts",
      farmers: "bench/farmers-program.ts",
    },
    platform: "node",
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
    treeshake: true,
  });
  await bundle.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    keepNames: true,
  });
  await bundle.close();
  return {
    server: join(folder, "server.mjs"),
    client: join(folder, "client.mjs"),
    library: join(folder, "library.mjs"),
    farmers: join(folder, "farmers.mjs"),
    folder,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
