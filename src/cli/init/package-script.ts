import { join } from "node:path";
import { tryParseJson } from "../../schema/json-text.js";
import { isMapping } from "../../schema/type-tag.js";
import { quoteFile } from "../../schema/words.js";
import { usageError } from "../exit-codes.js";
import { readProjectFile } from "./new-files.js";

/** The script `test:sandbox` of a project. */
interface ProjectScript {
  /** The text of package.json with the script, which the caller writes. */
  readonly packageJson: string;
  /** The command line of the script, without the program. */
  readonly execLine: string;
  /** Whether the script of this name is ours: another one, which the project had before, stays. */
  readonly isOurScript: boolean;
}

/** Reads package.json, and adds the script that runs a command with a sandbox to its text. Writes nothing. */
export async function packageJsonWithScript(command: string, cwd: string): Promise<ProjectScript> {
  const file = join(cwd, "package.json");
  const before = (await readProjectFile(cwd, "package.json")) ?? "{}";
  // Some editors on Windows write a byte order mark, which npm reads over.
  const [mark = ""] = /^\uFEFF/.exec(before) ?? [];
  const project = tryParseJson(before.slice(mark.length));
  if (project === undefined) throw usageError(`Nothing was written: ${quoteFile(file)} is not valid JSON.`);
  if (!isMapping(project)) {
    throw usageError(
      `Nothing was written: ${quoteFile(file)} is not an object, which a package.json must be.`,
    );
  }

  const { scripts: ownScripts = {} } = project;
  if (!isMapping(ownScripts)) {
    throw usageError(
      `Nothing was written: scripts in ${quoteFile(file)} is not an object, which a package.json must have there.`,
    );
  }

  const execLine = `exec key-states --fail-on warning -- ${command}`;
  const line = `svc-sandbox ${execLine}`;
  // Another script of this name comes later, and so it stays.
  const scripts = { "test:sandbox": line, ...ownScripts };
  // The file keeps its indentation and its line ends.
  const [indent = "  "] = /^[ \t]+(?=")/m.exec(before) ?? [];
  const lineEnd = before.includes("\r\n") ? "\r\n" : "\n";
  const json = `${JSON.stringify({ ...project, scripts }, null, indent)}\n`;
  const packageJson = `${mark}${json.replaceAll("\n", lineEnd)}`;
  return { packageJson, execLine, isOurScript: scripts["test:sandbox"] === line };
}
