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
 * Milliseconds that imports of the built package take over that of an empty module, or of msw, which the same fresh process has
 * imported just before: msw alone takes ten times as long, and what that varies by would hide the rest.
 */
export async function measureImports({ node, quick }: BenchArguments, { folder }: Bundle): Promise<Figure[]> {
  const empty = join(folder, "empty.mjs");
  await writeFile(empty, "");
  const built = (door: string) => pathToFileURL(join(root, "dist/esm", door)).href;
  const library: number[] = [];
  const handlers: number[] = [];
  for (let run = 0; run < (quick ? 5 : 30); run++) {
    library.push(timeOfImport(node, built("index.js"), pathToFileURL(empty).href));
    handlers.push(timeOfImport(node, built("msw.js"), "msw"));
  }
  const target = { atMost: 10 };
  return [
    figureOf("import of svc-sandbox: ms over an empty module", library, target),
    figureOf("import of svc-sandbox/msw: ms over msw", handlers, target),
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
