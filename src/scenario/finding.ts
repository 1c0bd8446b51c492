import type { Located, Path } from "./located.js";
import { placeAt } from "./located.js";
import type { ScenarioProblem, ScenarioProblemCode } from "./scenario-problem.js";
import { describePlace, type Place } from "./scenario-source.js";

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
 * The findings as problems with their places, from the top of the text to its end, each field's first finding only.
 *
 * `file` stands in for the ones that have no place.
 */
export function problemsOf(
  findings: readonly Finding[],
  root: Located | undefined,
  file: string | undefined,
): ScenarioProblem[] {
  const first = new Map<string, Finding & { place: Place | undefined }>();
  for (const finding of findings) {
    const place = finding.place ?? (root && placeAt(root, finding.path, finding.aim ?? "value"));
    const id = JSON.stringify([place?.offset, place?.source.file, finding.path]);
    if (!first.has(id)) first.set(id, { ...finding, place });
  }
  return [...first.values()].sort(byPlace).slice(0, maximumProblems).map(toProblem);

  function toProblem({ place, path, code, message, hint }: Finding & { place: Place | undefined }) {
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
}

function byPlace(one: { place: Place | undefined }, other: { place: Place | undefined }): number {
  if (one.place?.source !== other.place?.source) return 0;
  return (one.place?.offset ?? 0) - (other.place?.offset ?? 0);
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
