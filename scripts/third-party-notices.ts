import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Names, versions and licence texts of the packages that these bundled modules come from. */
export async function thirdPartyNotices(modules: readonly string[]): Promise<string> {
  const folders = [...new Set(modules.map(packageFolder).filter((folder) => folder !== undefined))].sort();
  const notices = await Promise.all(folders.map(notice));
  return `svc-sandbox contains code of these packages, under their licences.\n\n${notices.join("\n")}`;
}

// The innermost package that a module file belongs to.
function packageFolder(module: string): string | undefined {
  return /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module)?.[1];
}

async function notice(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one));
  const text =
    file === undefined ? "(The package ships no licence text.)" : await readFile(join(folder, file), "utf8");
  return `## ${name} ${version} (${license})\n\n${text.trim()}\n`;
}
