import { commandLine } from "../../report/curl-line.js";
import { pluralize } from "../../report/plain-text.js";
import { isFault } from "../../rules/fault-effects.js";
import { oneSafeLine } from "../../rules/terminal-text.js";
import { listed } from "../../schema/words.js";
import { asksFor, type Check, nameOf } from "../checks/check.js";
import type { Finding, JudgedCheck, Note, Reason } from "../checks/judgment.js";
import { nameOfKey, resendKinds } from "../resends/resend-kinds.js";
import type { CertifyResult } from "./certificate.js";
import { againLine, conclusionLine, failedWithoutProblem, type Program } from "./certificate-words.js";

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
  lines.push(...listLine("Held", heldWords(certified)));
  const allowed = certified.allow.map((outcome) =>
    isFault(outcome) ? `failing at ${outcome}` : `wrong answers on ${outcome}`,
  );
  lines.push(...listLine("Allowed", allowed));
  lines.push(...listLine(`Set by ${certified.scenario}`, certified.assumptions ?? []));
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

function listLine(title: string, words: readonly string[]): string[] {
  return words.length === 0 ? [] : [`${title}: ${words.join(", ")}`];
}

/** What held, in words: each group with its count, and each kind of resend. */
function heldWords({ checks, report }: Pick<CertifyResult, "checks" | "report">): string[] {
  const words = [
    ...heldCount(checks, "varied", "varied responses"),
    ...heldCount(checks, "answer", "wrong answers noticed"),
    ...heldResends(checks, resendWords(report)),
    ...heldCount(checks, "fault", "faults"),
  ];
  const isKeyHidden = checks.some(({ check, result }) => check.kind === "advice" && result.kind === "held");
  if (isKeyHidden) words.push("no key in output or URL");
  return words;
}

/** As in "faults (3 of 4)"; nothing if no check of this kind held. What --allow names is not counted. */
function heldCount(checks: readonly JudgedCheck[], kind: Check["kind"], words: string): string[] {
  const ofKind = checks.filter(({ check, result }) => check.kind === kind && result.kind !== "allowed");
  const heldChecks = ofKind.filter(({ result }) => result.kind === "held");
  return heldChecks.length === 0 ? [] : [`${words} (${heldChecks.length} of ${ofKind.length})`];
}

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

/** What was not judged: a line for each reason, with all that it is about. A check whose reason is that of the verdict is left out: that is shown already. */
function notJudgedLines(certified: CertifyResult): string[] {
  const wordsByName = resendWords(certified.report);
  const unjudged: Note[] = [];
  for (const { check, result } of certified.checks) {
    if (result.kind !== "not_judged" || isReasonOfVerdict(certified, check, result.reason)) continue;
    const name = nameOf(check);
    unjudged.push({ what: wordsByName.get(name) ?? name, ...result.reason });
  }

  const namesByReason = new Map<string, string[]>();
  for (const { what, why, whatToDo } of [...unjudged, ...certified.notes]) {
    const reason = `${why}. ${whatToDo}`;
    const names = namesByReason.get(reason) ?? [];
    namesByReason.set(reason, names);
    names.push(what);
  }
  return [...namesByReason].map(([reason, names]) => `Not judged: ${listed(names, "and")}: ${reason}`);
}

/** Whether the verdict has this reason of the check. A certificate has no more of the verdict's reason than its sentence, so sentences are compared. */
function isReasonOfVerdict({ why, only = [] }: CertifyResult, check: Check, reason: Reason): boolean {
  if (why === reason.why) return true;
  // The verdict of a name of --only begins with the name, as in "fault.hang: no request was hit".
  return only.some((name) => why === `${name}: ${reason.why}` && asksFor(name, check));
}
