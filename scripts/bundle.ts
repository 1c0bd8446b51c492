import { rolldown } from "rolldown";

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
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
  });
  const { output } = await bundled.write({
    dir: into,
    format,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    keepNames: true,
  });
  await bundled.close();
  return output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
}
