import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { openApiDocument } from "../src/api/openapi.js";
import { scenarioJsonSchema } from "../src/scenario/json-schema.js";
import { thirdPartyNotices } from "./third-party-notices.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");

await rm(dist, { recursive: true, force: true });
await mkdir(dist, { recursive: true });

// Everything is bundled, in chunks that load when they are first needed: a start reads a few small files instead of
// several hundred, and an installation downloads one package. docs/decisions/0002 has the figures.
const bundle = await rolldown({
  cwd: root,
  input: { cli: "src/cli/cli.ts" },
  platform: "node",
  resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
  treeshake: true,
});
const { output } = await bundle.write({
  dir: join(dist, "esm"),
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
  keepNames: true,
});
await bundle.close();

const modules = output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
await writeFile(join(dist, "THIRD-PARTY-NOTICES.txt"), await thirdPartyNotices(modules));
await writeFile(join(dist, "scenario.schema.json"), `${JSON.stringify(scenarioJsonSchema(), null, 2)}\n`);
await writeFile(join(dist, "openapi.json"), `${JSON.stringify(openApiDocument(), null, 2)}\n`);
