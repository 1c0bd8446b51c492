import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

// The tables of names are made from its data when the project is built.
const dataPackages = [join(import.meta.dirname, "../node_modules/@faker-js/faker")];

/** The packages that these bundled modules and the data that is shipped come from: their licences, and a CycloneDX SBOM. */
export async function thirdParty(modules: readonly string[]): Promise<{ notices: string; sbom: string }> {
  const bundled = modules.map(packageFolder).filter((folder) => folder !== undefined);
  const folders = [...new Set([...bundled, ...dataPackages])].sort();
  const notices = await Promise.all(folders.map(notice));
  const components = await Promise.all(folders.map(component));
  const bom = { bomFormat: "CycloneDX", specVersion: "1.6", version: 1, components };
  return {
    notices: `svc-sandbox contains code or data of these packages, under their licences.\n\n${notices.join("\n")}`,
    sbom: `${JSON.stringify(bom, null, 2)}\n`,
  };
}

async function component(folder: string): Promise<object> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  return { type: "library", "bom-ref": purl, name, version, purl, licenses: [{ expression: license }] };
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
