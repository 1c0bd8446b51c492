import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import project from "../../package.json" with { type: "json" };
import { root } from "../run-program.js";

// Writes the checksums of the archives in `binaries`, and the manifests of `packaging` with them.

const [folder, packaging] = [join(root, "binaries"), join(root, "packaging")];
const repository = project.homepage.replace(/#.*$/, "");

const checksums: Record<string, string> = {};
for (const name of await readdir(folder)) {
  if (!/\.(?:tar\.gz|zip|whl|jar)$/.test(name)) continue;
  checksums[name] = createHash("sha256")
    .update(await readFile(join(folder, name)))
    .digest("hex");
}
const lines = Object.entries(checksums).map(([name, sum]) => `${sum}  ${name}\n`);
await writeFile(join(folder, "SHA256SUMS"), lines.sort().join(""));

const values: Readonly<Record<string, string>> = {
  ...{ repository, owner: basename(dirname(repository)), version: project.version },
};
for (const path of await readdir(packaging, { recursive: true })) {
  // The other folders have what tests in other languages install.
  if (!/^(?:homebrew|scoop|winget)\/./.test(path)) continue;
  const template = await readFile(join(packaging, path), "utf8");
  const text = template.replaceAll(/\{\{(?:sha256 )?([\w-]+)\}\}/g, (_all, name: string) => {
    const archive = Object.keys(checksums).find((file) => file.startsWith(`svc-sandbox-${name}.`));
    const value = values[name] ?? checksums[archive ?? ""];
    if (value === undefined) throw new Error(`There is no archive for ${name} in ${folder}.`);
    return value;
  });
  const file = join(folder, "packaging", path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
