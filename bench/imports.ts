import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import { childEnvironment } from "./children.js";
import { type Figure, figureOf } from "./figure.js";
import { median } from "./median.js";

/** Milliseconds that an import of the built package takes over one of an empty module, each in a fresh process. */
export async function measureImports({ node, quick }: BenchArguments, { folder }: Bundle): Promise<Figure[]> {
  const empty = join(folder, "empty.mjs");
  await writeFile(empty, "");
  const library = fileURLToPath(new URL("../dist/esm/index.js", import.meta.url));
  const times = { empty: [] as number[], library: [] as number[] };
  for (let run = 0; run < (quick ? 5 : 30); run++) {
    times.empty.push(timeOfImport(node, empty));
    times.library.push(timeOfImport(node, library));
  }
  const base = median(times.empty);
  const over = times.library.map((time) => time - base);
  return [figureOf("import of svc-sandbox: ms over an empty module", over, { atMost: 15 })];
}

function timeOfImport(node: string, file: string): number {
  const code = `const start = performance.now();
await import(${JSON.stringify(pathToFileURL(file).href)});
console.log(performance.now() - start);`;
  const argv = ["--input-type=module", "-e", code];
  return Number(execFileSync(node, argv, { encoding: "utf8", env: childEnvironment() }));
}
