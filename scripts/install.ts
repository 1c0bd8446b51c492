import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { mustRun } from "./run-program.js";

/**
 * Installs the packages of a folder's project, and further packages, tarballs included.
 *
 * The folder and its project are made when they are not there. Throws when npm does, or takes longer than `timeout`
 * milliseconds.
 */
export async function install(
  folder: string,
  packages: readonly string[] = [],
  timeout = 600_000,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const project = join(folder, "package.json");
  // Without one, npm installs into the nearest project above.
  if (!existsSync(project)) await writeFile(project, '{ "private": true }\n');
  const argv = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", ...packages];
  await mustRun("npm", argv, { cwd: folder, timeout });
}
