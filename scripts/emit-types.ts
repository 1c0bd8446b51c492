import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateDtsBundle } from "dts-bundle-generator";
import ts from "typescript";
import { peers } from "./bundle.js";

/** Which declarations to emit, and where to. */
export interface TypeEmission {
  readonly root: string;
  /** The source files of the entry points by the names of their bundles. */
  readonly entries: Readonly<Record<string, string>>;
  readonly into: readonly string[];
}

/**
 * Emits the declarations of each entry point as one file; what that of `index` exports, the others import from there.
 *
 * Throws when one of them needs a package that partners do not have: they have neither our development dependencies nor
 * a reason to install their types.
 */
export async function emitTypes({ root, entries, into }: TypeEmission): Promise<void> {
  const files = Object.values(entries).map((file) => ({
    filePath: join(root, file),
    libraries: { importedLibraries: [...peers], allowedTypesLibraries: [] },
    output: { noBanner: true, exportReferencedTypes: false },
  }));
  const texts = generateDtsBundle(files, { preferredConfigPath: join(root, "tsconfig.json") });
  const names = Object.keys(entries);
  const index = declarationsIn(texts[names.indexOf("index")] as string);
  for (const [position, name] of names.entries()) {
    const whole = texts[position] as string;
    const text = name === "index" ? whole : withoutShared(whole, index);
    const foreign = [...text.matchAll(/(?:\bfrom|\bimport\()\s*["']([^"']+)["']/g)].map(
      ([, from]) => from ?? "",
    );
    const known = [...peers, "./index.js"];
    const unknown = foreign.filter((from) => !known.includes(from) && !from.startsWith("node:"));
    if (unknown.length > 0) throw new Error(`The types of ${entries[name]} need ${unknown.join(", ")}`);
    for (const folder of into) await writeFile(join(folder, `${name}.d.ts`), text);
  }
}

interface Declaration {
  readonly text: string;
  /** Without what stands before it: the word `export`, and comments, which only those that are exported have. */
  readonly bare: string;
  readonly isExported: boolean;
  /** The names that stand in it. */
  readonly mentions: readonly string[];
}

/** The declarations of a file by their names, overloads together; statements without a name by their text. */
function declarationsIn(text: string): Map<string, Declaration> {
  const declarations = new Map<string, Declaration>();
  const file = ts.createSourceFile("types.d.ts", text, ts.ScriptTarget.Latest);
  for (const statement of file.statements) {
    const named = ts.isVariableStatement(statement) ? statement.declarationList.declarations[0] : statement;
    const name = (named as { name?: ts.Node }).name?.getText(file) ?? statement.getText(file);
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    const mentions: string[] = [];
    const look = (node: ts.Node) => {
      if (ts.isIdentifier(node)) mentions.push(node.text);
      ts.forEachChild(node, look);
    };
    look(statement);
    const before = declarations.get(name);
    declarations.set(name, {
      text: (before?.text ?? "") + statement.getFullText(file),
      bare: (before?.bare ?? "") + statement.getText(file).replace(/^(?:export )?(?:declare )?/, ""),
      isExported: modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword),
      mentions: [...(before?.mentions ?? []), ...mentions],
    });
  }
  return declarations;
}

function withoutShared(text: string, index: ReadonlyMap<string, Declaration>): string {
  const own = declarationsIn(text);
  const isShared = (name: string) => {
    const there = index.get(name);
    return there?.isExported === true && there.bare === own.get(name)?.bare;
  };
  const kept = new Set<string>();
  const shared = new Set<string>();
  const waiting = [...own].filter(([name, { isExported }]) => isExported || /^(?:im|ex)port\b/.test(name));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    kept.add(next[0]);
    for (const name of next[1].mentions) {
      const found = own.get(name);
      if (found === undefined || kept.has(name)) continue;
      if (isShared(name) && !found.isExported) shared.add(name);
      else waiting.push([name, found]);
    }
  }
  const imported =
    shared.size === 0 ? "" : `import type { ${[...shared].sort().join(", ")} } from "./index.js";\n`;
  const texts = [...own].filter(([name]) => kept.has(name)).map(([, declaration]) => declaration.text);
  return `${imported}${texts.join("").trim()}\n`;
}
