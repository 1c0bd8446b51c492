import { commandLine, pluralize } from "../report/plain-text.js";
import { isFault } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import { escapeControls } from "../rules/terminal-text.js";
import { againLine, type Program } from "./again-line.js";
import { type CertifyResult, conclusionOf, withoutProblem } from "./certificate.js";
import type { Check, Finding } from "./judgment.js";
import { nameOfKey, resendKinds } from "./resend-kinds.js";

const width = 100;
/** The problems that are shown whole; each other one is its sentence and its command. */
const wholeProblems = 4;

/** Renders a result: problems first, then what held and what was not judged. */
export function certificateText(
  certified: CertifyResult,
  program: Program = {},
  bad: (text: string) => string = (text) => text,
): string {
  const { verdict, problems, checks, why, whatToDo, runs, command, durationMs, allow } = certified;
  const { scenario, assumptions = [] } = certified;
  const count = `${pluralize(runs, "run")} of \`${commandLine(command)}\`, ${Math.round(durationMs / 1000)} s`;
  const nameless = withoutProblem(checks, problems);
  const conclusion = `${conclusionOf(certified)}.`;
  const hasReason = why !== undefined && (verdict === "failed" || verdict === "stopped");
  const lines = [
    `${verdict === "failed" ? bad(conclusion) : conclusion}  ${count}`,
    ...(whatToDo === undefined || hasReason ? [] : [`Fix: ${whatToDo}`]),
    ...problems.flatMap((problem, at) => problemLines(problem, at + 1, certified, program)),
    ...nameless.map((name, at) => `${problems.length + at + 1}. ${name} failed, and no run shows why`),
    ...(hasReason ? [`Not judged: ${why}. ${whatToDo}`] : []),
    ...listLine("Held", heldWords(certified)),
    ...listLine(
      "Allowed",
      allow.map((outcome) => (isFault(outcome) ? `failing at ${outcome}` : `wrong answers on ${outcome}`)),
    ),
    ...listLine(`Set by ${scenario}`, assumptions),
    ...notJudgedLines(certified),
  ];
  return `${lines.map(escapeControls).join("\n")}\n`;
}

function problemLines(
  problem: Finding,
  number: number,
  { command }: CertifyResult,
  program: Program,
): string[] {
  const { sentence, whatToDo, lastLine } = problem;
  const fix = `   Fix: ${whatToDo}`;
  const again = `Again: ${againLine(problem, command, program)}`;
  if (number > wholeProblems) return [`${number}. ${sentence}`, `   ${again}`];
  const isShort = fix.length + again.length + 6 <= width;
  return [
    `${number}. ${sentence}`,
    ...(lastLine === undefined ? [] : [`   Its last line: ${lastLine}`]),
    ...(isShort ? [`${fix}      ${again}`] : [fix, `   ${again}`]),
  ];
}

const listLine = (title: string, words: readonly string[]) =>
  words.length === 0 ? [] : [`${title}: ${words.join(", ")}`];

/** What held: each group with its count, and each kind of resend. */
function heldWords({ checks, report }: Pick<CertifyResult, "checks" | "report">): string[] {
  const countOf = (group: Check["group"], words: string) => {
    const ofGroup = checks.filter((check) => check.group === group && check.result.kind !== "allowed");
    const held = ofGroup.filter(({ result }) => result.kind === "held").length;
    return held === 0 ? [] : [`${words} (${held} of ${ofGroup.length})`];
  };
  return [
    ...countOf("varied", "varied responses"),
    ...countOf("answer", "wrong answers noticed"),
    ...heldResends(checks, wordsOfChecks(report)),
    ...countOf("fault", "faults"),
    ...(checks.some(({ group, result }) => group === "advice" && result.kind === "held")
      ? ["no key in output or URL"]
      : []),
  ];
}

/** The words of a check: those of its kind of resend, or its name. */
function wordsOfChecks(report: CertifyResult["report"]): (name: string) => string {
  const kinds = resendKinds(report.outcomes.map(({ outcome }) => outcome));
  return (name) => kinds.find((kind) => kind.name === name)?.held ?? name;
}

/** The kinds of resends that held, with their key. All of a 429 are one. */
function heldResends(checks: readonly Check[], wordsOf: (name: string) => string): string[] {
  const limited = checks.filter(({ name }) => name.startsWith("resend.429."));
  const isWhole = limited.length > 1 && limited.every(({ result }) => result.kind === "held");
  const words = new Set<string>();
  for (const check of checks) {
    const { group, name, result } = check;
    if (group !== "resend" || result.kind !== "held") continue;
    words.add(isWhole && limited.includes(check) ? "429" : wordsOf(name));
  }
  const [key] = checks.flatMap(({ result }) => (result.kind === "held" && result.key) || []);
  return key === undefined ? [] : [`no resend of ${nameOfKey(key)} after ${listed([...words], "and")}`];
}

/** What was not judged, with the reason: the same one once, and none that the verdict has. */
function notJudgedLines({ checks, notes, report, why }: CertifyResult): string[] {
  const wordsOf = wordsOfChecks(report);
  const ofChecks = checks.flatMap(({ name, result }) =>
    result.kind === "not_judged" ? [{ ...result.reason, what: wordsOf(name) }] : [],
  );
  const byReason = new Map<string, string[]>();
  for (const { what, ...reason } of [...ofChecks, ...notes]) {
    const words = `${reason.why}. ${reason.whatToDo}`;
    if (!why?.endsWith(reason.why)) byReason.set(words, [...(byReason.get(words) ?? []), what]);
  }
  return [...byReason].map(([words, names]) => `Not judged: ${listed(names, "and")}: ${words}`);
}
