import { fileURLToPath } from "node:url";
import { openScenario } from "../node/files/scenario-files.js";
import { requireKnownOptions, validationError } from "../rules/validation.js";
import type { LoadedScenario } from "../scenario/scenario-source.js";
import { typeTag } from "../schema/type-tag.js";
import { quote } from "../schema/words.js";

/**
 * Loads a scenario by its bundled name, or from a file. A bundled name wins, `./name` is a file, as is a `file:` URL. What it returns is a scenario for `createSandbox` and `startServer`.
 *
 * Throws `scenario_not_found`, `file_unreadable`, or a `ScenarioError`; `validation_failed` for what is neither.
 */
export async function loadScenario(
  nameOrFile: string | URL,
  options: { readonly cwd?: string | URL } = {},
): Promise<LoadedScenario> {
  requireKnownOptions("load the scenario", options, ["cwd"]);
  const cwd = options.cwd === undefined ? undefined : nameOfFile(options.cwd, "load the scenario", "cwd");
  const name = nameOfFile(nameOrFile, "load the scenario", "file");
  const { loaded } = await openScenario(name, { cwd });
  return loaded;
}

/** The name of a file or folder that a caller gives, also as a URL. Throws `validation_failed` for the field. */
export function nameOfFile(file: unknown, attempt: string, field: string): string {
  if (typeof file === "string") return file;
  const isOfFile = typeTag(file) === "URL" && String(file).startsWith("file:");
  if (!isOfFile) {
    const message = `${field} must be a name or a file: URL, not ${quote(file)}`;
    throw validationError(attempt, [{ field: [field], message }]);
  }
  try {
    return fileURLToPath(file as URL); // its protocol is that of files
  } catch {
    const message = `${field} is no file of this machine: ${quote(String(file))}`;
    throw validationError(attempt, [{ field: [field], message }]);
  }
}
