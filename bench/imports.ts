import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import { childEnvironment } from "./children.js";
import { type Figure, figureOf } from "./figure.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Milliseconds that imports of the built package take, in a fresh process that has just imported an empty module, or msw.
 *
 * msw takes ten times as long as we do: the difference of two processes would be lost in its variation.
 */
export async function measureImports({ node, quick }: BenchArguments, { folder }: Bundle): Promise<Figure[]> {
  const empty = join(folder, "empty.mjs");
  await writeFile(empty, "");
  const built = (name: string) => pathToFileURL(join(root, "dist/esm", name)).href;
  const library: number[] = [];
  const handlers: number[] = [];
  for (let run = 0; run < (quick ? 5 : 30); run++) {
    library.push(timeOfImport(node, built("index.js"), pathToFileURL(empty).href));
    handlers.push(timeOfImport(node, built("msw.js"), "msw"));
  }
  return [
    figureOf("import of svc-sandbox: ms over an empty module", library, { atMost: 25 }),
    figureOf("import of svc-sandbox/msw: ms over msw", handlers, { atMost: 25 }),
  ];
}

function timeOfImport(node: string, specifier: string, before: string): number {
  const code = `await import(${JSON.stringify(before)});
const start = performance.now();
await import(${JSON.stringify(specifier)});
console.log(performance.now() - start);`;
  const argv = ["--input-type=module", "-e", code];
  return Number(execFileSync(node, argv, { cwd: root, encoding: "utf8", env: childEnvironment() }));
}
