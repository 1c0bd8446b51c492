import { dryRunScenario } from "../library/dry-run.js";
import { isMarked, sandboxMark } from "../rules/api-key.js";
import type { Path } from "../rules/schema/shape.js";
import { quote } from "../rules/schema/words.js";
import type { GivenOptions } from "../sandbox/sandbox.js";
import { isScenarioName } from "../scenario/bundled.js";
import type { FoundPlace } from "../scenario/parse-scenario.js";
import type { ScenarioMistake, ScenarioProblem } from "../scenario/problems.js";
import { type LoadedScenario, openScenarioFile, problemAt } from "./files/load-scenario.js";
import { readBundledScenario } from "./package-files.js";
import { startInNode } from "./platform.js";

const maxProblems = 20;

type PlaceOf = (path: Path) => FoundPlace | undefined | Promise<FoundPlace | undefined>;

export async function dryRunProblems(
  { scenario, name }: Pick<LoadedScenario, "scenario" | "name">,
  placeOf: PlaceOf,
  given: GivenOptions = {},
): Promise<ScenarioProblem[]> {
  if (scenario.timeline === undefined && scenario.story === undefined) return [];
  const failed = dryRunScenario(() => startInNode(scenario, { name, ...given, frozen: true }));
  return Promise.all(
    failed.slice(0, maxProblems).map(async (one) => problemAt(one, name, await placeOf(one.path))),
  );
}

/** Returns the pinned secrets without the mark of a sandbox: each may be a real key, which must not be in a file. */
export function unmarkedSecrets(
  { scenario, name }: Pick<LoadedScenario, "scenario" | "name">,
  placeOf: PlaceOf,
): Promise<ScenarioProblem[]> {
  const unmarked = Object.entries(scenario.organizations ?? {}).flatMap(([organization, { keys = {} }]) =>
    Object.entries(keys).flatMap(([ref, { secret }]): ScenarioMistake[] => {
      if (secret === undefined || isMarked(secret)) return [];
      const message = `the secret of ${quote(ref)} has no ${sandboxMark} after its prefix, as every key of a sandbox has`;
      const hint = `if it is a real key, rotate it and remove it here. If not, write ${sandboxMark} there, or leave secret out and the seed makes one`;
      const path = ["organizations", organization, "keys", ref, "secret"];
      return [{ code: "secret_unmarked", path, message, hint }];
    }),
  );
  return Promise.all(
    unmarked.slice(0, maxProblems).map(async (one) => problemAt(one, name, await placeOf(one.path))),
  );
}

/** `undefined` for a field of a bundled scenario that the file extends, and if a file can no longer be read. */
export async function placeInScenario(
  nameOrFile: string,
  path: Path,
  cwd: string,
  piped?: string,
): Promise<FoundPlace | undefined> {
  try {
    const { text, ...options } = isScenarioName(nameOrFile)
      ? { text: await readBundledScenario(nameOrFile), file: `scenarios/${nameOrFile}.yaml` }
      : openScenarioFile(nameOrFile, cwd, piped);
    const { openScenario } = await import("../scenario/parse-scenario.js");
    const { placeOf } = openScenario(text, options);
    const place = placeOf(path);
    // `placeOf` searches the surroundings of a missing field, up to the whole file.
    const isWhole = JSON.stringify(place) === JSON.stringify(placeOf([]));
    return isWhole ? undefined : place;
  } catch {
    // The file may have changed since it was loaded.
    return undefined;
  }
}
