import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import { childEnvironment } from "./children.js";
import { type Figure, figureOf } from "./figure.js";
import { median } from "./median.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Milliseconds that imports of the built package take over that of an empty module, or of msw, each in a fresh process. */
export async function measureImports({ node, quick }: BenchArguments, { folder }: Bundle): Promise<Figure[]> {
  const empty = join(folder, "empty.mjs");
  await writeFile(empty, "");
  const built = (door: string) => pathToFileURL(join(root, "dist/esm", door)).href;
  const imported = {
    empty: pathToFileURL(empty).href,
    library: built("index.js"),
    msw: "msw",
    handlers: built("msw.js"),
  };
  const names = Object.keys(imported) as (keyof typeof imported)[];
  const times = {
    empty: [] as number[],
    library: [] as number[],
    msw: [] as number[],
    handlers: [] as number[],
  };
  for (let run = 0; run < (quick ? 5 : 30); run++) {
    for (const name of names) times[name].push(timeOfImport(node, imported[name]));
  }
  const over = (name: keyof typeof imported, base: number) => times[name].map((time) => time - base);
  const target = { atMost: 10 };
  return [
    figureOf("import of svc-sandbox: ms over an empty module", over("library", median(times.empty)), target),
    figureOf("import of svc-sandbox/msw: ms over msw", over("handlers", median(times.msw)), target),
  ];
}

function timeOfImport(node: string, specifier: string): number {
  const code = `const start = performance.now();
await import(${JSON.stringify(specifier)});
console.log(performance.now() - start);`;
  const argv = ["--input-type=module", "-e", code];
  return Number(execFileSync(node, argv, { cwd: root, encoding: "utf8", env: childEnvironment() }));
}
