import type { LoadedScenario } from "../node/files/load-scenario.js";
import { placeInScenario } from "../node/place-in-scenario.js";
import type { FoundPlace } from "../scenario/parse-scenario.js";
import type { Path } from "../scenario/problems/scenario-problem.js";
import type { TellingStep } from "./tell-step.js";

/** Something that is wrong with a step, and where that stands. */
export interface StepProblem {
  /** `status`, `body.data.usage.today`, …; `null` when the step could not be told at all. */
  readonly at: string | null;
  readonly expected: string | null;
  readonly found: string | null;
  readonly message: string;
  /** The field of the scenario. */
  readonly path: Path;
  /** `undefined` when no file of the user's holds it. */
  readonly place: FoundPlace | undefined;
}

/** Everything that is wrong with a step. */
export async function problemsOf(
  { number, failure, differences }: TellingStep,
  { name }: LoadedScenario,
  cwd: string,
): Promise<StepProblem[]> {
  const step = ["story", number - 1];
  const problems: Omit<StepProblem, "place">[] = differences.map(({ at, expected, found }) => ({
    at,
    expected,
    found,
    message: `${at}: expected ${expected}, found ${found}`,
    path: pathOf(at, step),
  }));
  if (failure !== null) {
    problems.unshift({ at: null, expected: null, found: null, message: failure.message, path: step });
  }
  return Promise.all(
    problems.map(async (one) => ({ ...one, place: await placeInScenario(name, one.path, cwd) })),
  );
}

// A name in a body that holds a dot leads nowhere, and then the place is that of what is around it.
function pathOf(at: string, step: Path): Path {
  const header = /^headers\.(.*)$/s.exec(at);
  if (header !== null) return [...step, "expect", "headers", header[1] as string];
  const parts = at.split(/\.|\[(\d+)\]/).filter((part) => part !== undefined && part !== "");
  const path = parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const [first, place = 0, ...rest] = path;
  return first === "timeline" ? ["timeline", place, "expect", ...rest] : [...step, "expect", ...path];
}
