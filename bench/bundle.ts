import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** The programs that run in their own processes, as files that any Node can run. */
export interface Bundle {
  readonly server: string;
  readonly client: string;
  /** Their folder, which takes other files of a run as well. */
  readonly folder: string;
  readonly remove: () => Promise<void>;
}

/** Bundles the server and the client into the system's temporary folder. */
export async function bundlePrograms(): Promise<Bundle> {
  const folder = await mkdtemp(join(tmpdir(), "svc-sandbox-bench-"));
  const bundle = await rolldown({
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    input: { server: "bench/server.ts", client: "bench/client.ts" },
    platform: "node",
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
  });
  await bundle.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
    // As the package's own build does.
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    keepNames: true,
  });
  await bundle.close();
  return {
    server: join(folder, "server.mjs"),
    client: join(folder, "client.mjs"),
    folder,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
