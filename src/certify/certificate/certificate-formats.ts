import { commandLine, rerunCommand } from "../../report/curl-line.js";
import { pluralize } from "../../report/plain-text.js";
import type { ReportLayout, TableRow, Tone } from "../../report/render/layout.js";
import { isFault } from "../../rules/fault-effects.js";
import { oneSafeLine } from "../../rules/terminal-text.js";
import { listed } from "../../schema/words.js";
import { isProblemOf, nameOf } from "../checks/check.js";
import type { Finding, JudgedCheck, Reason, ResultOfCheck } from "../checks/judgment.js";
import { nameOfKey, resendKinds } from "../resends/resend-kinds.js";
import { type CertifyResult, certificateJson } from "./certificate.js";

// How a certificate is written: for people as text, and for programs as JSON or JUnit. The first line is the same in all of them.

/** A fix and its command share a line of at most so many characters. */
const width = 100;

/** So many problems are shown whole; each other one is its sentence and its command. */
const wholeProblems = 4;

/** Renders a result for people: problems first, then what held and what was not judged. `colorFailure`: colors the first line of a failure. */
export function certificateText(
  certified: CertifyResult,
  program: Program = {},
  colorFailure: (text: string) => string = (text) => text,
): string {
  const { verdict, problems, why, whatToDo = "", runs, command, durationMs } = certified;
  const count = `${pluralize(runs, "run")} of \`${commandLine(command)}\`, ${Math.round(durationMs / 1000)} s`;
  const conclusion = `${conclusionLine(certified)}.`;
  const lines = [`${verdict === "failed" ? colorFailure(conclusion) : conclusion}  ${count}`];
  // Where is the reason of the verdict? Below the problems if it failed or was stopped; else in the first line, which its fix follows.
  const isReasonBelow = verdict === "failed" || verdict === "stopped";
  if (certified.whatToDo !== undefined && !isReasonBelow) lines.push(`Fix: ${whatToDo}`);

  let number = 0;
  for (const problem of problems) {
    number += 1;
    lines.push(...problemLines(problem, number, certified, program));
  }
  for (const name of failedWithoutProblem(certified.checks, problems)) {
    number += 1;
    lines.push(`${number}. ${name} failed, and no run shows why`);
  }

  if (isReasonBelow && why !== undefined) lines.push(`Not judged: ${why}. ${whatToDo}`);
  const allowed = certified.allow.map((outcome) =>
    isFault(outcome) ? `failing at ${outcome}` : `wrong answers on ${outcome}`,
  );
  const lists = { Held: heldWords(certified), Allowed: allowed };
  for (const [title, words] of Object.entries(lists)) {
    if (words.length > 0) lines.push(`${title}: ${words.join(", ")}`);
  }
  const { scenario, assumptions = [] } = certified;
  if (assumptions.length > 0) lines.push(`Set by ${scenario}: ${assumptions.join(", ")}`);
  lines.push(...notJudgedLines(certified));
  return `${lines.map(oneSafeLine).join("\n")}\n`;
}

/** The lines of a problem: its sentence, and if it is one of the first, its last line and its fix. Its command comes last. */
function problemLines(
  problem: Finding,
  number: number,
  certified: CertifyResult,
  program: Program,
): string[] {
  const { sentence, whatToDo, lastLine } = problem;
  const lines = [`${number}. ${sentence}`];
  const again = `Again: ${againLine(problem, certified.command, program)}`;
  if (number > wholeProblems) return [...lines, `   ${again}`];

  if (lastLine !== undefined) lines.push(`   Its last line: ${lastLine}`);
  const fix = `   Fix: ${whatToDo}`;
  const onOneLine = `${fix}      ${again}`;
  if (onOneLine.length <= width) lines.push(onOneLine);
  else lines.push(fix, `   ${again}`);
  return lines;
}

/** What held, in words: each group with its count, as in "faults (3 of 4)", and each kind of resend. What --allow names is not counted. */
function heldWords({ checks, report }: Pick<CertifyResult, "checks" | "report">): string[] {
  const words: string[] = [];
  for (const kind of ["varied", "answer", "resend", "fault"] as const) {
    if (kind === "resend") {
      words.push(...heldResends(checks, resendWords(report)));
      continue;
    }
    const ofKind = checks.filter(({ check, result }) => check.kind === kind && result.kind !== "allowed");
    const heldChecks = ofKind.filter(({ result }) => result.kind === "held");
    if (heldChecks.length > 0) words.push(`${groupWords[kind]} (${heldChecks.length} of ${ofKind.length})`);
  }
  const isKeyHidden = checks.some(({ check, result }) => check.kind === "advice" && result.kind === "held");
  if (isKeyHidden) words.push("no key in output or URL");
  return words;
}

const groupWords = { varied: "varied responses", answer: "wrong answers noticed", fault: "faults" } as const;

/** The words of each kind of resend, by the name of its check. Any other check is shown by its name. */
function resendWords(report: CertifyResult["report"]): ReadonlyMap<string, string> {
  const words = new Map<string, string>();
  for (const kind of resendKinds(report.outcomes.map(({ outcome }) => outcome))) {
    words.set(nameOf(kind.check), kind.heldWords);
  }
  return words;
}

/** As in "no resend of ACTIVE after 503 with Retry-After and 401 (its last request)": only its last request was rejected. */
function heldResends(checks: readonly JudgedCheck[], wordsByName: ReadonlyMap<string, string>): string[] {
  const words = new Set<string>();
  let key: string | undefined;
  for (const { check, result } of checks) {
    if (check.kind !== "resend" || result.kind !== "held") continue;
    key ??= result.key;
    const name = nameOf(check);
    words.add(wordsByName.get(name) ?? name);
  }
  if (key === undefined) return [];
  return [`no resend of ${nameOfKey(key)} after ${listed([...words], "and")} (its last request)`];
}

/**
 * What was not judged: a line for each reason, with all that it is about, by their names in --only. Checks of one kind that have all the same
 * reason are named by their kind. A check whose reason the verdict has is left out: that is shown already.
 */
function notJudgedLines({ checks, notes }: CertifyResult): string[] {
  const namesByReason = new Map<string, Set<string>>();
  const add = (name: string, reason: Reason) => {
    const text = reasonSentence(reason);
    const names = namesByReason.get(text) ?? new Set();
    namesByReason.set(text, names);
    names.add(name);
  };
  for (const { check, result } of checks) {
    if (result.kind !== "not_judged" || result.isOfVerdict) continue;
    const text = reasonSentence(result.reason);
    const ofKind = checks.filter((other) => other.check.kind === check.kind);
    const isOfAll = ofKind.every((other) => {
      return other.result.kind === "not_judged" && reasonSentence(other.result.reason) === text;
    });
    add(isOfAll && ofKind.length > 1 ? check.kind : nameOf(check), result.reason);
  }
  for (const note of notes) add(note.what, note);
  return [...namesByReason].map(([text, names]) => `Not judged: ${listed([...names], "and")}: ${text}`);
}

const resultCells: Readonly<Record<ResultOfCheck["kind"], { readonly text: string; readonly tone: Tone }>> = {
  held: { text: "held", tone: "good" },
  failed: { text: "failed", tone: "bad" },
  not_judged: { text: "not judged", tone: "quiet" },
  allowed: { text: "allowed", tone: "quiet" },
};

/** The cells of a row fill the first two columns, and its details the others, in this order. */
const checkColumns = ["what", "result", "why", "fix", "its last line", "again"];

/** The certificate as JSON and JUnit lay it out; `certificateText` prints it for people. */
export function certificateLayout(certified: CertifyResult, program: Program = {}): ReportLayout {
  const { verdict, notes, scenario, command, durationMs } = certified;
  const checkRows = certified.checks.map((judged) => checkRow(judged, certified, program));
  const noteRows = notes.map((note): TableRow => {
    const text = reasonSentence(note);
    return { cells: [note.what, resultCells.not_judged], details: [[text]], message: text };
  });

  let tone: Tone = "bad";
  if (verdict === "passed") tone = "good";
  if (verdict === "stopped") tone = "broken";
  return {
    kind: "certificate",
    subject: scenario,
    title: `Certificate of ${commandLine(command)}`,
    sections: [
      { title: "Checks", columns: checkColumns, rows: checkRows },
      { title: "Notes", columns: ["what", "result", "why"], rows: noteRows },
    ],
    notes: [],
    conclusion: { text: conclusionLine(certified), tone },
    failures: [],
    durationMs,
    json: certificateJson(certified),
  };
}

/** The row of a check: its details have an entry for each problem that it is part of, or the reason why it is not judged. */
function checkRow(
  { check, result }: JudgedCheck,
  { problems, command }: CertifyResult,
  program: Program,
): TableRow {
  const name = nameOf(check);
  const cells = [name, resultCells[result.kind]];
  const sentences: string[] = [];
  const fixes: string[] = [];
  const lastLines: string[] = [];
  const again: string[] = [];
  for (const problem of problems) {
    if (!isProblemOf(problem, check)) continue;
    const { sentence, whatToDo, lastLine } = problem;
    // A sentence is about one run: another one may have another variant, or another fault.
    sentences.push(problem.name === name ? sentence : `As ${problem.name}: ${sentence}`);
    fixes.push(whatToDo);
    if (lastLine !== undefined) lastLines.push(lastLine);
    again.push(againLine(problem, command, program));
  }
  const [message] = sentences;
  if (message !== undefined) {
    const why = sentences.map((sentence) => `${sentence}.`);
    return { cells, details: [why, fixes, lastLines, again], message };
  }
  if (result.kind !== "not_judged") return { cells, details: [[]] };

  const text = reasonSentence(result.reason);
  return { cells, details: [[text]], message: text };
}

function reasonSentence({ why, whatToDo }: Reason): string {
  return `${why}. ${whatToDo}`;
}

/** The first line of a certificate, without its full stop: the verdict, and how much was judged. */
function conclusionLine(certified: CertifyResult): string {
  const { verdict, checks, problems, judged, notJudged, why, only, allow } = certified;
  // As in " (only resend.401; allowed fault.status)".
  const limitList: string[] = [];
  if (only !== undefined) limitList.push(`only ${only.join(", ")}`);
  if (allow.length > 0) limitList.push(`allowed ${allow.join(", ")}`);
  const limits = limitList.length === 0 ? "" : ` (${limitList.join("; ")})`;
  const problemCount = pluralize(problems.length + failedWithoutProblem(checks, problems).length, "problem");
  const notJudgedWords = notJudged === 0 ? "" : `, ${notJudged} of ${judged + notJudged} checks not judged`;
  switch (verdict) {
    case "passed":
      if (notJudged === 0) return `Passed${limits}: ${pluralize(judged, "check")}`;
      return `Passed${limits}: ${judged} of ${judged + notJudged} checks, ${notJudged} not judged`;
    case "failed":
      return `Failed${limits}: ${problemCount}${notJudgedWords}`;
    case "stopped":
      return `Stopped${limits}: ${problemCount} in the runs that were made${notJudgedWords}`;
    case "no_request":
      return `Not judged${limits}: the command sent no request`;
    case "not_judged":
      return `Not judged${limits}: ${why ?? "a part of the runs shows nothing"}`;
  }
}

function failedWithoutProblem(checks: readonly JudgedCheck[], problems: readonly Finding[]): string[] {
  const names: string[] = [];
  for (const { check, result } of checks) {
    const hasProblem = problems.some((problem) => isProblemOf(problem, check));
    if (result.kind === "failed" && !hasProblem) names.push(nameOf(check));
  }
  return names;
}

/** How the user starts svc-sandbox, with the scenario if it was given. */
interface Program {
  readonly program?: string;
  readonly scenario?: string | undefined;
}

function againLine(
  { again: [by = "exec", ...flags] }: Pick<Finding, "again">,
  command: readonly string[],
  { program, scenario }: Program,
): string {
  const words = scenario === undefined ? flags : [scenario, ...flags];
  return rerunCommand(by, words, command, program);
}
