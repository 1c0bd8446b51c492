import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateDtsBundle } from "dts-bundle-generator";

/** Which declarations to emit, and where to. */
export interface TypeEmission {
  readonly root: string;
  /** The source files of the entry points by the names of their bundles. */
  readonly entries: Readonly<Record<string, string>>;
  readonly into: readonly string[];
}

/**
 * Emits the declarations of each entry point as one file.
 *
 * Throws when one of them needs a package that partners do not have: they have neither our development dependencies nor
 * a reason to install their types.
 */
export async function emitTypes({ root, entries, into }: TypeEmission): Promise<void> {
  const files = Object.values(entries).map((file) => ({
    filePath: join(root, file),
    libraries: { importedLibraries: ["msw"], allowedTypesLibraries: [] },
    output: { noBanner: true, exportReferencedTypes: false },
  }));
  const texts = generateDtsBundle(files, { preferredConfigPath: join(root, "tsconfig.json") });
  for (const [index, name] of Object.keys(entries).entries()) {
    const text = texts[index] as string;
    const foreign = [...text.matchAll(/(?:\bfrom|\bimport\()\s*["']([^"']+)["']/g)].map(([, from]) => from);
    const unknown = foreign.filter((from) => from !== "msw" && !from?.startsWith("node:"));
    if (unknown.length > 0) throw new Error(`The types of ${entries[name]} need ${unknown.join(", ")}`);
    for (const folder of into) await writeFile(join(folder, `${name}.d.ts`), text);
  }
}
