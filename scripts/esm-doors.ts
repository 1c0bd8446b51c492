import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";
import { parseAst } from "rolldown/parseAst";
import { minify, peers } from "./bundle.js";

// In Node the ES module build is the CommonJS build with other doors: one copy of everything in a process, whichever
// way it was loaded. Only what imports packages of the user stands in ES modules itself, as those packages may do.

/** Source files of entry points by their names. */
type Doors = Readonly<Record<string, string>>;

/** What a door with peers takes from the CommonJS build. */
const insideOf = (door: string) => `${door}-inside`;

/** The entry points of the CommonJS build that doors with peers take from, as texts by their names. */
export async function insideTexts(root: string, peerDoors: Doors): Promise<Readonly<Record<string, string>>> {
  const texts = Object.entries(peerDoors).map(async ([door, file]) => {
    const lines = [...(await takenBy(join(root, file)))].map(
      ([from, names]) => `export { ${[...names].join(", ")} } from ${JSON.stringify(from)};`,
    );
    return [insideOf(door), lines.join("\n")];
  });
  return Object.fromEntries(await Promise.all(texts));
}

/** Writes an ES module for each door, which has what the CommonJS build exports by that name. */
export async function writeEsmDoors({
  root,
  dist,
  ownDoors,
  peerDoors,
  exports,
}: {
  readonly root: string;
  readonly dist: string;
  readonly ownDoors: Doors;
  readonly peerDoors: Doors;
  /** The names of the exports of the CommonJS build, by its entry points. */
  readonly exports: Readonly<Record<string, readonly string[]>>;
}): Promise<void> {
  await mkdir(join(dist, "esm"), { recursive: true });
  // Node reads through a CommonJS file for the names of its exports, which takes longer than to load a short one more.
  const opened = async (name: string) => {
    await writeFile(join(dist, `cjs/open-${name}.js`), `exports.open=()=>require("./${name}.js");\n`);
    return `import door from "../cjs/open-${name}.js";\nexport const { ${exports[name]?.join(", ")} } = door.open();\n`;
  };
  for (const door of Object.keys(ownDoors)) {
    await writeFile(join(dist, `esm/${door}.js`), await opened(door));
  }
  for (const [door, file] of Object.entries(peerDoors)) {
    const inside = await opened(insideOf(door));
    const taken = await takenBy(join(root, file));
    const bundled = await rolldown({
      input: join(root, file),
      platform: "node",
      external: (id) => peers.includes(id) || id.startsWith("../cjs/"),
      makeAbsoluteExternalsRelative: false,
      resolve: { extensionAlias: { ".js": [".ts"] } },
      plugins: [
        {
          name: "from-inside",
          resolveId: (id) => (id === "inside" ? "\0inside" : null),
          load: (id) => (id === "\0inside" ? inside : taken.has(id) ? 'export * from "inside";' : null),
        },
      ],
    });
    await bundled.write({ file: join(dist, `esm/${door}.js`), format: "esm", minify });
    await bundled.close();
  }
}

/** The files outside of its folder that a door imports, with the names of what it takes from each. */
async function takenBy(door: string): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const taken = new Map<string, Set<string>>();
  const own = new Set([door]);
  for (const file of own) {
    for (const { from, names } of await importsOf(file)) {
      if (dirname(from) === dirname(door)) own.add(from);
      else taken.set(from, new Set([...(taken.get(from) ?? []), ...names]));
    }
  }
  return taken;
}

/** The files of ours that a file imports, with the names of what is no type. */
async function importsOf(file: string) {
  const { body } = parseAst(await readFile(file, "utf8"), { lang: "ts" }, file);
  return body.flatMap((node) => {
    if (node.type !== "ImportDeclaration" && node.type !== "ExportNamedDeclaration") return [];
    if (!node.source?.value.startsWith(".") || isType(node)) return [];
    const names = node.specifiers.flatMap((one) =>
      one.type === "ImportSpecifier" && !isType(one) && "name" in one.imported ? one.imported.name : [],
    );
    const from = join(dirname(file), node.source.value.replace(/\.js$/, ".ts"));
    return names.length === 0 ? [] : [{ from, names }];
  });
}

const isType = (node: object) =>
  Object.entries(node).some(([name, kind]) => /Kind$/.test(name) && kind === "type");
