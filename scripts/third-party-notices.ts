import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import project from "../package.json" with { type: "json" };
import { root } from "./run-program.js";

// The tables of names are made from its data when the project is built.
const dataPackages = [join(root, "node_modules/@faker-js/faker")];

type Manifest = Pick<typeof project, "name" | "version" | "license">;

/**
 * The packages that these bundled modules and the data that is shipped come from: their licenses, and a CycloneDX SBOM.
 * Throws if a package has no license text.
 */
export async function thirdParty(modules: readonly string[]): Promise<{ notices: string; sbom: string }> {
  const bundled = modules.map(packageFolder).filter((folder) => folder !== undefined);
  const folders = [...new Set([...bundled, ...dataPackages])].sort();
  const notices = await Promise.all(folders.map(notice));
  const components = (await Promise.all(folders.map(manifestIn))).map((one) => component("library", one));
  const own = component("application", project);
  const bom = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { lifecycles: [{ phase: "build" }], supplier: { name: project.author }, component: own },
    components,
    dependencies: [{ ref: own["bom-ref"], dependsOn: components.map((one) => one["bom-ref"]) }],
  };
  return {
    notices: `svc-sandbox contains code or data of these packages, under their licenses.\n\n${notices.join("\n")}`,
    sbom: `${JSON.stringify(bom, null, 2)}\n`,
  };
}

async function manifestIn(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
}

function component(type: string, { name, version, license }: Manifest) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  return { type, "bom-ref": purl, name, version, purl, licenses: [{ expression: license }] };
}

// The innermost package that a module file belongs to.
function packageFolder(module: string): string | undefined {
  return /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module)?.[1];
}

async function notice(folder: string): Promise<string> {
  const { name, version, license } = await manifestIn(folder);
  const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`Failed to find the license text of ${name}.`);
  const text = await readFile(join(folder, file), "utf8");
  return `## ${name} ${version} (${license})\n\n${text.trim()}\n`;
}
