import type { ComponentChildren } from "preact";
import type { Shown } from "../../control/responses.js";
import { toneOf } from "./path-badge.js";

export type CheckResult = Shown<"RequestDetails">["checks"][number]["result"];

const results: Readonly<Record<CheckResult, readonly [mark: string, words: string]>> = {
  passed: ["✓ ", "passed"],
  rejected: ["✗ ", "rejected"],
  not_reached: ["", "not reached"],
};

export interface ShownCheck {
  readonly name: string;
  readonly question: string;
  readonly rules?: string;
  /** What it found about one request. */
  readonly result?: CheckResult;
  /** Its outcomes. */
  readonly outcomes?: ComponentChildren;
}

interface ChecksProps {
  readonly label: string;
  readonly checks: readonly ShownCheck[];
  /** Where the request ended, whose checks these are. */
  readonly pathId?: string;
}

/** The request checks in their order: of one request as a strip with its results, or below each other with their outcomes. */
export function Checks({ label, checks, pathId }: ChecksProps) {
  return (
    <ol class={`checks ${pathId === undefined ? "" : "strip"}`} aria-label={label}>
      {checks.map(({ name, question, rules = "", result, outcomes }) => {
        const [mark, words] = result === undefined ? ["", ""] : results[result];
        return (
          <li
            key={name}
            class={`${result ?? ""} tone-${toneOf(pathId ?? "")}`}
            title={pathId === undefined ? undefined : `${question} ${rules}`}
          >
            <span class="check-name">
              <span aria-hidden="true">{mark}</span>
              {name}
              {result === undefined ? null : <span class="visually-hidden">: {words}</span>}
            </span>
            {pathId === undefined ? (
              <span class="muted small">
                {question} {rules}
              </span>
            ) : null}
            {outcomes}
          </li>
        );
      })}
    </ol>
  );
}

/** The results of the checks of a request that ended at a path; a fault may have hit it before all of them. */
export function resultsAt(
  checks: Shown<"RequestChecks">["checks"],
  pathId: string,
  isFault: boolean,
): readonly ShownCheck[] {
  const rejectedAt = checks.findIndex(({ exits }) => exits.some((exit) => exit === pathId));
  const reached = isFault ? 0 : rejectedAt === -1 ? checks.length : rejectedAt;
  return checks.map((check, index) => ({
    ...check,
    result: index < reached ? "passed" : index === rejectedAt ? "rejected" : "not_reached",
  }));
}
