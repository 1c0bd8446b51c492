import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { packageFile } from "../../node/package-files.js";
import { quote } from "../../schema/words.js";
import { servedDocs } from "../docs-place.js";
import { isExecutable } from "../executable.js";
import { installedFile, readProjectFile, writeProjectFile } from "./new-files.js";

const heading = "## svc-sandbox";

/** Adds a section to AGENTS.md, in which other sections stay. Resolves to the lines that say so. */
export async function writeAgentSection(cwd: string): Promise<string[]> {
  const file = resolve(cwd, "AGENTS.md");
  const before = (await readProjectFile(cwd, "AGENTS.md")) ?? "";
  const hasSection = before.split("\n").some((line) => line.trimEnd() === heading);
  if (hasSection) {
    return [`AGENTS.md already has the section ${quote(heading)}; nothing was changed.`];
  }

  // If no package is installed, a copy of its file stands next to the new one. An existing copy may be the user's.
  const installed = installedFile(cwd, "AGENTS.md");
  const copy = "svc-sandbox.AGENTS.md";
  if (installed === undefined && !existsSync(resolve(cwd, copy))) {
    const text = String(await packageFile("AGENTS.md"));
    writeProjectFile(resolve(cwd, copy), asStartedHere(text));
  }

  const section = asStartedHere(`${heading}

Read ${installed ?? copy} before you write or change code that calls the relying-party API. Run the tests with a sandbox:
\`npx --no-install svc-sandbox exec --format json -- <command>\`.
`);
  const after = before === "" ? section : `${before.trimEnd()}\n\n${section}`;
  // The file keeps its line ends.
  const lineEnd = before.includes("\r\n") ? "\r\n" : "\n";
  writeProjectFile(file, after.replace(/\r?\n/g, lineEnd));
  return ["Added a section to AGENTS.md."];
}

/** A text for coding agents as this program is started: a machine with the single executable may have no npx, and has no files of the package. */
function asStartedHere(text: string): string {
  if (!isExecutable()) return text;
  const withoutNpx = text.replaceAll("npx --no-install ", "");
  return withoutNpx.replace("`docs/` next to this file", `${servedDocs}/ of a running sandbox`);
}
