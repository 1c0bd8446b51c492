import type { Check, Finding, Note, ResultOfCheck } from "./certificate.js";
import type { Reason } from "./run.js";

/** What a part of the runs has shown. */
export interface Judgment {
  readonly checks: readonly Check[];
  readonly problems: readonly Finding[];
  readonly notes: readonly Note[];
}

export function checkOf(name: string, result: ResultOfCheck): Check {
  const [group = ""] = name.split(".");
  return { group: group as Check["group"], name, result };
}

export type NotJudged = ResultOfCheck & { readonly is: "not judged" };

export const notJudged = (reason: Reason): NotJudged => ({ is: "not judged", ...reason });

export const heldCheck = (name: string): Judgment => judgment([checkOf(name, { is: "held" })]);
export const notJudgedCheck = (name: string, reason: Reason): Judgment =>
  judgment([checkOf(name, notJudged(reason))]);
export const failedCheck = (name: string, ...problems: readonly Finding[]): Judgment =>
  judgment([checkOf(name, { is: "failed" })], problems);
export const noteJudgment = (what: string, reason: Reason): Judgment =>
  judgment([], [], [{ what, ...reason }]);

export function judgment(
  checks: Judgment["checks"],
  problems: Judgment["problems"] = [],
  notes: Judgment["notes"] = [],
): Judgment {
  return { checks, problems, notes };
}

export function joinJudgments(parts: readonly Judgment[]): Judgment {
  return {
    checks: parts.flatMap(({ checks }) => checks),
    problems: parts.flatMap(({ problems }) => problems),
    notes: parts.flatMap(({ notes }) => notes),
  };
}

/** What is left if a failure shows nothing: checks that failed are not judged, for this reason. */
export function withoutFailures({ checks, notes }: Judgment, reason: Reason): Judgment {
  const left = checks.map((check) =>
    check.result.is === "failed" ? checkOf(check.name, notJudged(reason)) : check,
  );
  return judgment(left, [], notes);
}
