import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "../run-program.js";
import type { NodeMajor } from "./versions.js";

/**
 * The folder of the newest Node of a major version, to be put into `PATH`.
 *
 * Taken from the npm registry, which is reachable wherever `npm ci` works, and kept in the cache folder. Throws when npm
 * does.
 */
export async function nodeFolder(major: NodeMajor, cache: string): Promise<string> {
  const folder = join(cache, `node-${major}`);
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const bin = join(folder, "node_modules", name, "bin");
  if (existsSync(bin)) return bin;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), "{}\n");
  const argv = ["install", "--ignore-scripts", "--no-audit", "--no-fund", `${name}@${major}`];
  const { code, output } = await runProgram("npm", argv, { cwd: folder });
  if (code !== 0) throw new Error(`Failed to fetch Node ${major} (${name}):\n${output}`);
  return bin;
}
