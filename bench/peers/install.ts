import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { packProject } from "../../scripts/pack.js";
import { runProgram } from "../../scripts/run-program.js";
import type { Peer } from "./peer.js";
import type { PeerResult } from "./results.js";
import { modules } from "./serve.js";

const folder = dirname(modules);

/** The part of a package-lock.json that says what is installed where, by its path; the root's is empty. */
export type LockedPackages = Readonly<Record<string, LockedPackage>>;

interface LockedPackage {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** Installs the peers when they are not there, and says so. */
export async function installPeers(): Promise<void> {
  if (existsSync(modules)) return;
  console.error(`installing the peers in ${folder} …`);
  const argv = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const { code, output } = await runProgram("npm", argv, { cwd: folder, timeout: 600_000 });
  if (code !== 0) throw new Error(`Failed to install the peers in ${folder}:\n${output}`);
}

/** The version and size of a peer as it is installed: its packages and all that they need. */
export async function installedPeer(peer: Peer): Promise<Pick<PeerResult, "version" | "size">> {
  const [main] = peer.packages;
  if (main === undefined) return packedSandbox();
  const lock = JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8"));
  const locked = lock.packages as LockedPackages;
  const paths = closureOf(locked, peer.packages).filter((path) => existsSync(join(folder, path)));
  const sizes = await Promise.all(paths.map((path) => sizeOf(join(folder, path))));
  return {
    version: locked[`node_modules/${main}`]?.version as string,
    size: { bytes: sizes.reduce((sum, size) => sum + size, 0), packages: paths.length },
  };
}

async function packedSandbox(): Promise<Pick<PeerResult, "version" | "size">> {
  const own = JSON.parse(await readFile(join(folder, "../../package.json"), "utf8"));
  const into = await mkdtemp(join(tmpdir(), "svc-sandbox-packed-"));
  const { unpackedSize } = await packProject(into);
  await rm(into, { recursive: true });
  return { version: own.version, size: { bytes: unpackedSize, packages: 1 } };
}

/** The paths of some packages of the root and of all that they need, as Node finds them. */
export function closureOf(locked: LockedPackages, names: readonly string[]): string[] {
  const found = new Set<string>();
  const visit = (from: string, name: string) => {
    const path = nearest(locked, from, name);
    // An optional one may be for another platform.
    if (path === undefined || found.has(path)) return;
    found.add(path);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = locked[
      path
    ] as LockedPackage;
    const needed = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
    for (const other of needed) {
      if (peerDependenciesMeta?.[other]?.optional !== true) visit(path, other);
    }
  };
  for (const name of names) visit("", name);
  return [...found];
}

function nearest(locked: LockedPackages, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const path = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (path in locked) return path;
    if (folder === "") return undefined;
  }
}

/** The bytes of a package's files, without the packages inside it. */
async function sizeOf(path: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory() && entry.name !== "node_modules") bytes += await sizeOf(inner);
    if (entry.isFile()) bytes += (await stat(inner)).size;
  }
  return bytes;
}

/** The Java that runs here, in words, such as `OpenJDK 17.0.15`. */
export function javaVersion(): string | undefined {
  try {
    const [line = ""] = execFileSync("java", ["--version"], { encoding: "utf8" }).split("\n");
    return line.replace(/^openjdk (\S+).*/, "OpenJDK $1");
  } catch {
    return undefined;
  }
}
