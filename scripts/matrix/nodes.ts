import { existsSync } from "node:fs";
import { join } from "node:path";
import { install } from "../install.js";
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
  if (existsSync(join(bin, "node"))) return bin;
  await install(folder, [`${name}@${major}`]);
  return bin;
}
