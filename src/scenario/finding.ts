import { type Located, type Path, placeAt } from "./located.js";
import type { ScenarioProblem, ScenarioProblemCode } from "./scenario-problem.js";
import { describePlace, type Place, type ScenarioSource } from "./scenario-source.js";

/** A problem before its place in the text is looked up. */
export interface Finding {
  readonly code: ScenarioProblemCode;
  readonly path: Path;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Whether to point at the name of the field instead of its value. */
  readonly aim?: "key" | "value";
  /** The field that was probably meant. */
  readonly meant?: Path | undefined;
  /** Where it is, when the path alone does not say so. */
  readonly place?: Place | undefined;
}

/** How many problems of one scenario are reported at most; who has more has one problem. */
const maximumProblems = 200;

/**
 * The findings as problems with their places: those of the scenario's own text first, from its top to its end; of
 * each field the first finding only.
 *
 * `file` stands in for the ones that have no place.
 */
export function problemsOf(
  findings: readonly Finding[],
  root: Located | undefined,
  file: string | undefined,
): ScenarioProblem[] {
  const first = new Map<string, PlacedFinding>();
  const sources: (ScenarioSource | undefined)[] = [root?.place?.source];
  for (const finding of findings) {
    const place = finding.place ?? (root && placeAt(root, finding.path, finding.aim ?? "value"));
    if (!sources.includes(place?.source)) sources.push(place?.source);
    const order = sources.indexOf(place?.source);
    const id = JSON.stringify([place?.offset, order, finding.path]);
    if (!first.has(id)) first.set(id, { ...finding, place, order });
  }
  const sorted = [...first.values()].sort(
    (one, other) => one.order - other.order || (one.place?.offset ?? 0) - (other.place?.offset ?? 0),
  );
  return sorted.slice(0, maximumProblems).map((finding) => toProblem(finding, file));
}

/** A finding with its place, and which of the texts involved that place is in. */
interface PlacedFinding extends Finding {
  readonly place: Place | undefined;
  readonly order: number;
}

function toProblem(
  { place, path, code, message, hint }: PlacedFinding,
  file: string | undefined,
): ScenarioProblem {
  const name = place === undefined ? file : place.source.file;
  return {
    code,
    path: pathText(path),
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(name === undefined ? {} : { file: name }),
    ...(place === undefined ? {} : describePlace(place)),
  };
}

/**
 * A path as people write it.
 *
 * @example
 * pathText(["organizations", "bank", "keys", "main", "scopes", 1]); // "organizations.bank.keys.main.scopes[1]"
 */
export function pathText(path: Path): string {
  return path
    .map((step, index) => (typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join("");
}
