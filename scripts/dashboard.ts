import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { build, type Rolldown } from "vite";
import { root } from "./run-program.js";

const into = join(root, "dist/dashboard");

/** Members of ours get short names: they have a capital letter, as no JSON has, and no browser knows them; Preact has one of a newer browser. */
async function ownMembers() {
  const library = join(root, "node_modules/typescript/lib");
  const files = (await readdir(library)).filter((name) => /^lib\..*\.d\.ts$/.test(name));
  const texts = await Promise.all(files.map((name) => readFile(join(library, name), "utf8")));
  const reserved = [...new Set(texts.join("\n").match(/\b[a-z]+[A-Z]\w*/g))];
  return { include: /^[a-z]+[A-Z]\w*$/, exclude: /^(?:on[A-Z]|moveBefore$)/, reserved };
}

/** Builds the dashboard's page into `dist/dashboard`, its assets compressed with Brotli; returns the files that went in. */
export async function buildDashboard(): Promise<string[]> {
  const result = await build({
    root: join(root, "src/dashboard"),
    configFile: false,
    // The page is below `/__sandbox/` of a server.
    base: "./",
    logLevel: "warn",
    // Calls of `h` compress better than those of the automatic runtime.
    oxc: {
      jsx: { runtime: "classic", pragma: "h", pragmaFrag: "Fragment" },
      jsxInject: 'import { Fragment, h } from "preact"',
    },
    build: {
      outDir: into,
      emptyOutDir: true,
      target: "es2022",
      // The first browsers with `light-dark()`, which would otherwise be spelled out.
      cssTarget: ["chrome123", "firefox120", "safari17.5"],
      modulePreload: false,
      // The page contains no scripts or styles itself: its policy allows no data in the place of a file.
      assetsInlineLimit: 0,
      // A slow machine is no reason for a warning.
      rolldownOptions: {
        checks: { bundlerTimings: false },
        output: { minify: { compress: true, mangle: true, codegen: true, mangleProps: await ownMembers() } },
      },
    },
  });
  const assets = join(into, "assets");
  for (const file of await readdir(assets)) {
    const path = join(assets, file);
    await writeFile(`${path}.br`, brotliCompressSync(await readFile(path)));
    await rm(path);
  }
  const { output } = result as Rolldown.RolldownOutput;
  return output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
}
