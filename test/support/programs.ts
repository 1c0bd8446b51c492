import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const list = readFileSync(join(import.meta.dirname, "../../.ci/programs"), "utf8");

/** The path of a program that `.ci/run` installs. Throws if it is missing, with the command that installs it. */
export function programPath(name: string): string {
  const { path, problem } = find(name);
  if (problem !== undefined) throw new Error(problem);
  return path;
}

/** Why tests that need a program are skipped; `undefined` if it is installed. In CI they run, and fail. */
export function missing(name: string): string | undefined {
  const { problem } = find(name);
  return process.env.CI === "true" ? undefined : problem;
}

function find(name: string): { readonly path: string; readonly problem?: string } {
  const row = list.split("\n").find((line) => line.startsWith(`${name} `));
  if (row === undefined) throw new Error(`${name} is missing in .ci/programs: CI does not install it.`);
  const [, file = "", debianPackage] = row.split(/ +/);
  const variable = `${name.toUpperCase().replaceAll("-", "_")}_PATH`;
  const path = process.env[variable] ?? file;
  if (existsSync(path)) return { path };
  const problem = `${name} is missing: ${path} does not exist. Run \`apt-get install ${debianPackage}\`, or set ${variable}.`;
  return { path, problem };
}
