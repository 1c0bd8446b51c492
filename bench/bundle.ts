import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** The programs that run in processes of their own, as files that any Node can run. */
export interface Bundle {
  readonly server: string;
  readonly client: string;
  readonly remove: () => Promise<void>;
}

/**
 * Bundles the server and the client into the system's temporary folder, with the options of the package's own build.
 *
 * The servers of the bench count the same core as the package, but tell their memory over a channel that the
 * package has no use for.
 */
export async function bundlePrograms(): Promise<Bundle> {
  const root = fileURLToPath(new URL("..", import.meta.url));
  // Two folders below the package's copy, because the version is read from `../../package.json`.
  const dir = await mkdtemp(join(tmpdir(), "svc-sandbox-bench-"));
  const bundle = await rolldown({
    cwd: root,
    input: { server: "bench/server.ts", client: "bench/client.ts" },
    platform: "node",
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
    treeshake: true,
  });
  await bundle.write({
    dir,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    keepNames: true,
  });
  await bundle.close();
  return {
    server: join(dir, "server.mjs"),
    client: join(dir, "client.mjs"),
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}
