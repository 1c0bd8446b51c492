import { isMapping } from "../domain/json.js";
import { mistakesIn, shapeProblems } from "../schema/check.js";
import { inWords, type Mistake } from "../schema/messages.js";
import type { Path, Shape } from "../schema/shape.js";
import { scenarioSchema } from "./format/schema.js";
import type { Diagnostic, ScenarioProblemCode } from "./problems/scenario-error.js";
import type { Scenario } from "./scenario.generated.js";

type Members = Record<string | number, unknown>;

/** The part of a misshapen scenario that the rules can check. */
export interface SoundPart {
  readonly scenario: Scenario;
  /** The mistakes inside misspelled fields. */
  readonly inMisspelt: readonly Diagnostic[];
  /** Returns a problem with its path as written; `undefined` if it may only result from a mistake in the shape. */
  readonly trust: (problem: Diagnostic) => Diagnostic | undefined;
}

// Problems that depend only on the refs of things.
const aboutNames: readonly ScenarioProblemCode[] = [
  "unknown_key_ref",
  "unknown_organization_ref",
  "duplicate_key_ref",
  "reserved_key_ref",
];

// The fields that other fields depend on.
const settings: Path = ["assumptions", "clock", "population", "preview", "seed"];

/** The part of a scenario with the right shape, so that all problems can be reported together. */
export function soundPart(fields: object): SoundPart {
  const part = structuredClone(fields) as Members;
  const renamed = mistakesIn(scenarioSchema, part).flatMap((mistake) => rename(part, mistake));
  const inMisspelt = renamed.length === 0 ? [] : shapeProblems(scenarioSchema, part);
  const broken = mistakesIn(scenarioSchema, part);
  for (const mistake of broken) replace(part, mistake);
  // A consent's status depends on all of its fields.
  if (broken.some(({ path }) => path[0] === "consents")) delete part.consents;
  const hidesNames = broken.some(mayHideNames);
  const isSet = broken.some(({ path: [first = ""] }) => settings.includes(first));
  const isTouched = (path: Path) =>
    isSet ||
    broken.some(({ kind, path: [one, other] }) => kind !== "unknown" && one === path[0] && other === path[1]);
  const placed = (problem: Diagnostic) => ({ ...problem, path: renamed.reduce(asWritten, problem.path) });
  return {
    scenario: part as unknown as Scenario,
    inMisspelt: inMisspelt.map(placed),
    trust(problem) {
      const { code, path } = problem;
      if (hidesNames || (!aboutNames.includes(code) && isTouched(path))) return undefined;
      return placed(problem);
    },
  };
}

interface Renamed {
  readonly path: Path;
  readonly written: string | number;
}

function asWritten(path: Path, { path: [...own], written }: Renamed): Path {
  if (!own.every((step, index) => step === path[index])) return path;
  return path.map((step, index) => (index === own.length - 1 ? written : step));
}

// A misspelled field counts as the intended one.
function rename(part: Members, mistake: Mistake): Renamed[] {
  if (mistake.kind !== "unknown") return [];
  const { suggestion } = inWords(mistake);
  const [holder, name] = holderOf(part, mistake.path);
  const meant = suggestion?.at(-1);
  if (suggestion === undefined || meant === undefined || Object.hasOwn(holder, meant)) return [];
  holder[meant] = holder[name];
  delete holder[name];
  return [{ path: suggestion, written: name }];
}

function replace(part: Members, { kind, path, shape }: Mistake): void {
  const [holder, name] = holderOf(part, path);
  if (kind === "name") return;
  const instead = kind === "unknown" ? undefined : insteadOf(shape);
  if (instead !== undefined) holder[name] = instead;
  // Removing an item from a list would move the others.
  else if (Array.isArray(holder))
    replace(part, { kind: "unknown", path: path.slice(0, -1), shape, value: holder });
  else delete holder[name];
}

function insteadOf(shape: Shape): unknown {
  if (shape.kind === "choice") return shape.choices[0];
  return shape.kind === "mapping" ? {} : undefined;
}

// Mistakes are sorted outermost first, so the mapping around one may have been replaced.
function holderOf(part: Members, path: Path): [holder: Members, name: string | number] {
  let holder = part;
  for (const step of path.slice(0, -1)) holder = (holder[step] ?? {}) as Members;
  return [holder, path.at(-1) as string];
}

// Whether keys, organizations, or steps that create keys cannot be read.
function mayHideNames({ kind, path, value }: Mistake): boolean {
  const [first, , third] = path;
  if (kind === "unknown") return isMapping(value);
  if (kind === "name" || first === "population") return true;
  return (
    kind === "value" &&
    first === "organizations" &&
    (path.length < 3 || (path.length === 3 && third === "keys"))
  );
}
