import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root, runProgram } from "./run-program.js";

/** What stays between runs. */
export const cache = join(root, "node_modules/.cache/svc-sandbox");
/** This machine, as packages with a Node name it. */
export const ownPlatform = `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;

/**
 * Installs the packages of a folder's project, and further packages, tarballs included. The folder and its project are made
 * when they are not there. npm has `timeout` milliseconds, and two more tries: it does not notice a download that stalls, it
 * prefers an old list of versions, and a list can name a version before its tarball is there. Throws what npm printed each time.
 */
export async function install(folder: string, packages: readonly string[] = [], timeout = 240_000) {
  await mkdir(folder, { recursive: true });
  const project = join(folder, "package.json");
  // Without one, npm installs into the nearest project above.
  if (!existsSync(project)) await writeFile(project, '{ "private": true }\n');
  const failures: string[] = [];
  const lastWeek = new Date(Date.now() - 7 * 86_400_000).toISOString();
  for (const versions of ["--prefer-offline", "--prefer-online", `--before=${lastWeek}`]) {
    const argv = ["install", "--ignore-scripts", "--no-audit", "--no-fund", versions, ...packages];
    const { code, output } = await runProgram("npm", argv, { cwd: folder, timeout });
    if (code === 0) return;
    failures.push(`npm ${argv.join(" ")} ended with ${code}:\n${output}`);
  }
  throw new Error(failures.join("\n"));
}
