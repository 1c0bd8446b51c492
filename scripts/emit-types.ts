import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";

/** Which declarations to emit, and where to. */
export interface TypeEmission {
  readonly root: string;
  /** The source files of the doors. */
  readonly doors: readonly string[];
  readonly into: readonly string[];
}

// A partner has neither our development dependencies nor a reason to install their types.
const allowedPackages = ["msw", "node:http", "node:net", "node:stream"];

/**
 * Emits the type declarations that the doors lead to, and no others; throws when one of them needs a package that
 * partners do not have.
 */
export async function emitTypes({ root, doors, into }: TypeEmission): Promise<void> {
  const all = await mkdtemp(join(tmpdir(), "svc-sandbox-types-"));
  try {
    await promisify(execFile)(
      process.execPath,
      [
        join(root, "node_modules/typescript/bin/tsc"),
        "-p",
        join(root, "scripts/tsconfig.types.json"),
        "--outDir",
        all,
      ],
      { cwd: root },
    );
    const starts = doors.map((door) => join(all, relative("src", door).replace(/\.ts$/, ".d.ts")));
    for (const file of await reachable(starts)) {
      const place = relative(all, file);
      for (const folder of into) await cp(file, join(folder, place), { recursive: true });
    }
  } finally {
    await rm(all, { recursive: true });
  }
}

async function reachable(starts: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  const waiting = [...starts];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    for (const imported of importsOf(await readFile(file, "utf8"))) {
      if (imported.startsWith(".")) waiting.push(join(dirname(file), imported.replace(/\.js$/, ".d.ts")));
      else if (!allowedPackages.includes(imported)) throw new Error(`${file}: its types need ${imported}`);
    }
  }
  return found;
}

function importsOf(text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "");
  return [...code.matchAll(/(?:\bfrom|\bimport\()\s*["']([^"']+)["']/g)].map((match) => match[1] as string);
}
