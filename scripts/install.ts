import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { mustRun } from "./run-program.js";

/**
 * Installs the packages of a folder's project, and further packages, tarballs included. The folder and its project are made
 * when they are not there. npm has `timeout` milliseconds, and two more tries: it does not notice a download that stalls,
 * and keeps what it has downloaded. Throws when npm does.
 */
export async function install(folder: string, packages: readonly string[] = [], timeout = 240_000) {
  await mkdir(folder, { recursive: true });
  const project = join(folder, "package.json");
  // Without one, npm installs into the nearest project above.
  if (!existsSync(project)) await writeFile(project, '{ "private": true }\n');
  const argv = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", ...packages];
  await mustRun("npm", argv, { cwd: folder, timeout, retries: 2 });
}
