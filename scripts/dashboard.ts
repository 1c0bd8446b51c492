import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { build, type Rolldown } from "vite";
import { root } from "./run-program.js";

const shared =
  /\/dashboard\/(?:control|elements|route|views\/(?:keys\/actor|instances\/access))|\/node_modules\/@?preact|preload-helper/;

// What the overview, the usual first view, does not need.
const lists =
  /\/dashboard\/(?:control\/live-requests|elements\/(?:forms\/(?:field|form)\.|key-state|keyboard|paging|table|traffic\/body-text))/;

const into = join(root, "dist/dashboard");

/** Builds the dashboard's page into `dist/dashboard`, its assets compressed with Brotli; returns the files that went in. */
export async function buildDashboard(): Promise<string[]> {
  const result = await build({
    root: join(root, "src/dashboard"),
    configFile: false,
    // The page is below `/__sandbox/` of a server, or of one of its instances.
    base: "./",
    logLevel: "warn",
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      outDir: into,
      emptyOutDir: true,
      target: "es2022",
      modulePreload: false,
      // The page contains no scripts or styles itself: its policy allows no data in the place of a file.
      assetsInlineLimit: 0,
      // A slow machine is no reason for a warning.
      rolldownOptions: {
        checks: { bundlerTimings: false },
        // What several views use is one file, instead of one for each set of views.
        output: {
          codeSplitting: {
            groups: [
              { name: "elements", test: (id) => shared.test(id) && !lists.test(id), priority: 1 },
              { name: "lists", test: lists },
            ],
          },
        },
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
