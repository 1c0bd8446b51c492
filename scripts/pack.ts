import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cache } from "./install.js";
import { mustRun, root } from "./run-program.js";

/** Sizes are bytes: of the tarball, unpacked, and of each file. */
export type Packed = Readonly<{ tarball: string; size: number; unpackedSize: number; files: PackedFile[] }>;
type PackedFile = Readonly<{ path: string; size: number; mode: number }>;

/** The page that the package has as `AGENTS.md`; the project's own is for agents that work on it. */
const agentsPage = "docs/agents.md";

/**
 * Packs the project as it is built now into a folder. Throws when npm does. Unlike `npm pack`, it builds nothing and
 * changes nothing in the project: others may read it at this moment.
 */
export async function packProject(into: string): Promise<Packed> {
  const folder = await mkdtemp(join(tmpdir(), "svc-sandbox-pack-"));
  try {
    const { filename } = await pack(root, folder);
    await mustRun("tar", ["-xzf", filename], { cwd: folder });
    await makePublished(join(folder, "package"));
    const { filename: name, size, unpackedSize, files } = await pack(join(folder, "package"), into);
    return { tarball: join(into, name), size, unpackedSize, files };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function pack(cwd: string, into: string) {
  const argv = ["pack", "--ignore-scripts", "--json", "--pack-destination", into];
  return JSON.parse(await mustRun("npm", argv, { cwd }))[0];
}

/** The files that the package has in another form than the project. */
const changed = ["package.json", "README.md", "AGENTS.md"];

/**
 * Gives the changed files of a folder their published form: `package.json` no scripts and no development packages,
 * `README.md` addresses that work on the registry's page, and `AGENTS.md` the page for agents of users.
 */
async function makePublished(folder: string): Promise<void> {
  const [manifestFile, readmeFile] = [join(folder, "package.json"), join(folder, "README.md")];
  const { scripts: _, devDependencies: __, ...manifest } = JSON.parse(await readFile(manifestFile, "utf8"));
  await writeFile(manifestFile, `${JSON.stringify(manifest, null, 2)}\n`);
  const repository = manifest.homepage.replace(/#.*$/, "");
  const raw = repository.replace("https://github.com", "https://raw.githubusercontent.com");
  const readme = (await readFile(readmeFile, "utf8"))
    .replaceAll(/(!\[[^\]]*\]\(|\bsrc(?:set)?=")(?![a-z]+:)/g, `$1${raw}/v${manifest.version}/`)
    .replaceAll(/(\]\(|\bhref=")(?![a-z]+:|#)/g, `$1${repository}/blob/v${manifest.version}/`);
  await writeFile(readmeFile, readme);
  await copyFile(join(root, agentsPage), join(folder, "AGENTS.md"));
}

// `npm pack` runs it with `before` and `after` around the packing: the project keeps its own files.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const aside = join(cache, "unpublished");
  const isBefore = process.argv[2] === "before";
  const [from, into] = isBefore ? [root, aside] : [aside, root];
  await mkdir(aside, { recursive: true });
  for (const name of changed) await copyFile(join(from, name), join(into, name));
  if (isBefore) await makePublished(root);
}
