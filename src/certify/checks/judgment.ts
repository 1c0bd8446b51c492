import type { ValueOf } from "../../schema/shape.js";
import * as s from "../../schema/shape.js";
import type { Check } from "./check.js";

export interface JudgedCheck {
  readonly check: Check;
  readonly result: ResultOfCheck;
}

/** What the runs answer, as the head of certify.ts lists it. */
export type ResultOfCheck =
  | {
      readonly kind: "held" | "failed" | "allowed";
      /** Of a resend that held, the ref of the key whose last request was rejected. */
      readonly key?: string;
      /** Whether it rests on a run that failed. A command that fails at random shows nothing by that. */
      readonly byFailure?: true;
    }
  | NotJudged;

/** Nothing is shown: why, and what to change so that it is. */
export interface NotJudged {
  readonly kind: "not_judged";
  readonly why: string;
  readonly whatToDo: string;
}

const noteShape = s.mapping({
  what: s.described(s.text(), "What no check could show."),
  why: s.described(s.text(), "Why not."),
  whatToDo: s.described(s.text(), "What to change so that it is shown."),
});
/** What limits the checks, and is none itself: what no run could try, such as varied responses with a status that no request got. */
export interface Note extends ValueOf<typeof noteShape> {}

const pointShape = s.mapping({
  row: s.described(s.text(), "The row of the table of variations."),
  variant: s.described(s.text(), "The variant of that row."),
  status: s.described(s.integer(), "The status of the varied responses."),
});

const findingShape = s.mapping({
  name: s.described(s.text(), "The first run that shows it, by its name in --only."),
  sentence: s.described(s.text(), "What was seen."),
  whatToDo: s.described(s.text(), "How to fix the client or its tests."),
  row: s.optional(s.described(s.text(), "The row of varied responses that breaks the client alone.")),
  points: s.optional(s.described(s.list(pointShape), "The variants of the row that failed.")),
  runs: s.described(s.list(s.text()), "The runs that show it."),
  again: s.described(s.list(s.text()), "The command of svc-sandbox that shows it again, with its flags."),
  lastLine: s.optional(
    s.described(s.text(), "The last line of the command that shows an error, without keys."),
  ),
});
/** A problem of a client, or of its tests. */
export interface Finding extends ValueOf<typeof findingShape> {}

export const judgmentShapes = { note: noteShape, finding: findingShape };

export interface Judgment {
  readonly checks: readonly JudgedCheck[];
  /** What failed, the most serious first. One problem may be about several checks. */
  readonly problems: readonly Finding[];
  readonly notes: readonly Note[];
}

export const notJudged = (why: string, whatToDo: string): NotJudged => ({
  kind: "not_judged",
  why,
  whatToDo,
});

/** Nothing was tried: no run was asked for, or the plain run shows too little for any other. */
export const nothingJudged: Judgment = { checks: [], problems: [], notes: [] };

/** All these checks have this one result. */
export function judgedAlike(checks: readonly Check[], result: ResultOfCheck): Judgment {
  return { ...nothingJudged, checks: checks.map((check) => ({ check, result })) };
}

export function mergeJudgments(parts: readonly Judgment[]): Judgment {
  const checks: JudgedCheck[] = [];
  const problems: Finding[] = [];
  const notes: Note[] = [];
  for (const part of parts) {
    checks.push(...part.checks);
    problems.push(...part.problems);
    notes.push(...part.notes);
  }
  return { checks, problems, notes };
}
