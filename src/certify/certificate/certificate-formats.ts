import { commandLine, rerunCommand } from "../../report/curl-line.js";
import { pluralize, wrapped } from "../../report/plain-text.js";
import type { ReportLayout, TableRow, Tone } from "../../report/render/layout.js";
import { oneSafeLine } from "../../rules/terminal-text.js";
import { listed } from "../../schema/words.js";
import { groups, groupWords, isProblemOf, nameOf } from "../checks/check.js";
import type { Finding, JudgedCheck, NotJudged, ResultOfCheck } from "../checks/judgment.js";
import { nameOfKey, responseWords } from "../resends.js";
import { type CertifyResult, certificateJson } from "./certificate.js";

// How a certificate is written: for people as text, and for programs as JSON or JUnit. The first line is the same in all of them.

/** Renders a result for people: problems first, then what held and what was not judged. `colorFailure`: colors the first line of a failure. `width`: of a terminal. */
export function certificateText(
  certified: CertifyResult,
  program: Program = {},
  colorFailure: (text: string) => string = (text) => text,
  width = Number.POSITIVE_INFINITY,
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
    lines.push(...problemLines(problem, number, certified, program, width));
  }
  for (const name of failedWithoutProblem(certified.checks, problems)) {
    number += 1;
    lines.push(`${number}. ${name} failed, and no run shows why`);
  }

  if (isReasonBelow && why !== undefined) lines.push(`Not judged: ${why}. ${whatToDo}`);
  const held = heldWords(certified.checks);
  if (held.length > 0) lines.push(`Held: ${held.join(", ")}`);
  const { scenario, assumptions = [] } = certified;
  if (assumptions.length > 0) lines.push(`Set by ${scenario}: ${assumptions.join(", ")}`);
  lines.push(...notJudgedLines(certified));
  return `${lines.map(oneSafeLine).join("\n")}\n`;
}

/** The lines of a problem: its sentence, its last line, its fix, and the command that shows it again. */
function problemLines(
  problem: Finding,
  number: number,
  certified: CertifyResult,
  program: Program,
  width: number,
): string[] {
  const { sentence, whatToDo, lastLine } = problem;
  const indent = "   ";
  const [first = "", ...others] = wrapped(sentence, width - indent.length);
  const lines = [`${number}. ${first}`];
  for (const line of others) lines.push(indent + line);
  if (lastLine !== undefined) lines.push(`${indent}Its last line: ${lastLine}`);
  for (const line of wrapped(`Fix: ${whatToDo}`, width - indent.length)) lines.push(indent + line);
  // A command stays in one line, to be copied.
  lines.push(`${indent}Again: ${againLine(problem, certified.command, program)}`);
  return lines;
}

/** What held, in words: each group with its count, as in "faults (3 of 4)", and each kind of resend. What --allow names is not counted. */
function heldWords(checks: readonly JudgedCheck[]): string[] {
  const words: string[] = [];
  for (const group of groups) {
    if (group === "resend") {
      words.push(...heldResends(checks));
      continue;
    }
    const ofGroup = checks.filter(({ check, result }) => check.kind === group && result.kind !== "allowed");
    const heldChecks = ofGroup.filter(({ result }) => result.kind === "held");
    if (heldChecks.length === 0) continue;
    words.push(`${groupWords[group].held} (${heldChecks.length} of ${ofGroup.length})`);
  }
  const isKeyHidden = checks.some(({ check, result }) => check.kind === "advice" && result.kind === "held");
  if (isKeyHidden) words.push("no key in output or URL");
  return words;
}

/** As in "no resend of ACTIVE after a 401" and "no resend of ACTIVE before its time after a 503 with `Retry-After: 4`": a client may wait, and send it then. */
function heldResends(checks: readonly JudgedCheck[]): string[] {
  const forGood: string[] = [];
  const forATime: string[] = [];
  let key = "";
  for (const { check, result } of checks) {
    if (check.kind !== "resend" || result.kind !== "held" || result.key === undefined) continue;
    key = nameOfKey(result.key);
    if (check.retryAfter === undefined) forGood.push(responseWords(check));
    else forATime.push(responseWords(check));
  }

  const held: string[] = [];
  if (forGood.length > 0) held.push(`no resend of ${key} after ${listed(forGood, "and")}`);
  if (forATime.length > 0) held.push(`no resend of ${key} before its time after ${listed(forATime, "and")}`);
  return held;
}

/**
 * What was not judged: a line for each reason, with all that it is about, by their names in --only. Checks of one kind that have all the same
 * reason are named by their kind.
 */
function notJudgedLines({ checks, notes }: CertifyResult): string[] {
  const namesByReason = new Map<string, Set<string>>();
  const add = (name: string, text: string) => {
    const names = namesByReason.get(text) ?? new Set();
    namesByReason.set(text, names);
    names.add(name);
  };
  for (const { check, result } of checks) {
    if (result.kind !== "not_judged") continue;
    const text = reasonSentence(result);
    const ofKind = checks.filter((other) => other.check.kind === check.kind);
    const isOfAll = ofKind.every((other) => {
      return other.result.kind === "not_judged" && reasonSentence(other.result) === text;
    });
    add(isOfAll && ofKind.length > 1 ? check.kind : nameOf(check), text);
  }
  for (const note of notes) add(note.what, reasonSentence(note));
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

  const text = reasonSentence(result);
  return { cells, details: [[text]], message: text };
}

function reasonSentence({ why, whatToDo }: Pick<NotJudged, "why" | "whatToDo">): string {
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
