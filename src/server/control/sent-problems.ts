import { scenarioWarnings } from "../../node/scenario-warnings.js";
import type { StartOptions } from "../../sandbox/sandbox-state.js";
import type { CheckedScenario } from "../../scenario/interpret.js";
import { problemsAt, type ScenarioProblem } from "../../scenario/problems.js";
import { placeOfField, type WrittenScenario } from "../../scenario/written-scenario.js";
import { checkSent, sentFile } from "./sent-scenario.js";

/** A problem as the client gets it. */
interface ShownProblem {
  /** Where it is in the body, counted from 1; `null` without a place there. */
  readonly line: number | null;
  readonly column: number | null;
  /** An error keeps the scenario from starting. */
  readonly level: "error" | "warning";
  readonly message: string;
  readonly hint: string | null;
}

/** The warnings of a sent scenario, with their places in the body. */
export function startWarnings(checked: CheckedScenario, startOptions: StartOptions): ScenarioProblem[] {
  const { scenario, placeOf } = checked;
  const warnings = scenarioWarnings({ scenario, name: sentFile }, checked, startOptions);
  return problemsAt(Object.values(warnings).flat(), placeOf, sentFile);
}

/** What `validate` shows of a sent scenario: its errors, or its warnings if it has none. */
export function problemsInSent(sent: WrittenScenario, startOptions: StartOptions): ShownProblem[] {
  const check = checkSent(sent);
  const { kind } = check;
  switch (kind) {
    case "checked": {
      const warnings = startWarnings(check.checked, startOptions);
      return warnings.map((problem) => showProblem("warning", problem, placeInBody(problem)));
    }
    case "not_valid":
      return check.error.problems.map((problem) => showProblem("error", problem, placeInBody(problem)));
    case "too_large": {
      const place = placeOfField(sent, ["population"]);
      return [showProblem("error", check.error, place)];
    }
    default:
      return kind satisfies never;
  }
}

/** The part of a problem that says where it is. */
type ProblemPlace = Pick<ScenarioProblem, "line" | "column">;

/** Where a problem is in the body; a problem of an extended scenario is not there. */
function placeInBody(problem: ScenarioProblem): ProblemPlace {
  return problem.file === sentFile ? problem : {};
}

function showProblem(
  level: ShownProblem["level"],
  problem: { readonly message: string; readonly hint?: string },
  place: ProblemPlace = {},
): ShownProblem {
  return {
    line: place.line ?? null,
    column: place.column ?? null,
    level,
    message: problem.message,
    hint: problem.hint ?? null,
  };
}
