import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "./run-program.js";

/**
 * Installs packages, tarballs included, into a folder, which is made when it is not there, as one without a project
 * would. Throws when npm does.
 */
export async function install(folder: string, packages: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{ "private": true }\n', { flag: "a" });
  const argv = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", ...packages];
  const { code, output } = await runProgram("npm", argv, { cwd: folder });
  if (code !== 0) throw new Error(`Failed to install ${packages.join(", ")}:\n${output}`);
}
