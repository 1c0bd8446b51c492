import { commandLine, pluralize, runAgainWith } from "../report/plain-text.js";
import { listed } from "../rules/schema/words.js";
import { escapeControls } from "../rules/terminal-text.js";
import type { CertifyResult } from "./certificate.js";
import type { Check, Finding } from "./judgment.js";
import { nameOfKey } from "./resend-kinds.js";

/** How the user starts svc-sandbox, with the scenario if it was given. */
export interface Program {
  readonly program?: string;
  readonly scenario?: string | undefined;
}

const width = 100;
const maxOutputLines = 20;
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
  const conclusion = {
    passed: "Passed.",
    failed: `Failed: ${pluralize(problems.length, "problem")}.`,
    not_judged: `Not judged: ${why ?? "a part of the runs shows nothing"}.`,
    no_request: "Not judged: the command sent no request.",
  }[verdict];
  const lines = [
    `${verdict === "failed" ? bad(conclusion) : conclusion}  ${count}`,
    ...(whatToDo === undefined || verdict === "failed" ? [] : [`Fix: ${whatToDo}`]),
    ...problems.flatMap((problem, at) => problemLines(problem, at + 1, certified, program)),
    ...(why === undefined || verdict !== "failed" ? [] : [`Not judged: ${why}. ${whatToDo}`]),
    ...listLine("Held", heldWords(checks)),
    ...listLine(
      "Allowed",
      allow.map((outcome) => `wrong answers on ${outcome}`),
    ),
    ...listLine(`Set by ${scenario}`, assumptions),
    ...notJudgedLines(certified),
  ];
  return `${lines.map(escapeControls).join("\n")}\n`;
}

function problemLines(
  { sentence, whatToDo, again, lastLine }: Finding,
  number: number,
  { command }: CertifyResult,
  program: Program,
): string[] {
  const fix = `   Fix: ${whatToDo}`;
  const [by = "exec", ...flags] = again;
  const words = program.scenario === undefined ? flags : [program.scenario, ...flags];
  const rerun = `Again: ${runAgainWith(by, words, command, program.program)}`;
  if (number > wholeProblems) return [`${number}. ${sentence}`, `   ${rerun}`];
  const isShort = fix.length + rerun.length + 6 <= width;
  return [
    `${number}. ${sentence}`,
    ...(lastLine === undefined ? [] : [`   Its last line: ${lastLine}`]),
    ...(isShort ? [`${fix}      ${rerun}`] : [fix, `   ${rerun}`]),
  ];
}

/** The last lines of a command that cannot be judged. */
export function lastOutput(output: readonly string[]): string[] {
  return output.slice(-maxOutputLines);
}

const listLine = (title: string, words: readonly string[]) =>
  words.length === 0 ? [] : [`${title}: ${words.join(", ")}`];

/** What held: each group with its count, and each kind of resend. */
function heldWords(checks: readonly Check[]): string[] {
  const countOf = (group: Check["group"], words: string) => {
    const ofGroup = checks.filter((check) => check.group === group && check.result.kind !== "allowed");
    const held = ofGroup.filter(({ result }) => result.kind === "held").length;
    return held === 0 ? [] : [`${words} (${held} of ${ofGroup.length})`];
  };
  return [
    ...countOf("varied", "varied responses"),
    ...countOf("answer", "wrong answers noticed"),
    ...heldResends(checks.filter(({ group }) => group === "resend")),
    ...countOf("fault", "faults"),
    ...(checks.some(({ group, result }) => group === "advice" && result.kind === "held")
      ? ["no key in output or URL"]
      : []),
  ];
}

/** The kinds of resends that held, with their key and the requests that were rejected. All of a 429 are one. */
function heldResends(checks: readonly Check[]): string[] {
  const limited = checks.filter(({ name }) => name.startsWith("resend.429."));
  const isWhole = limited.length > 1 && limited.every(({ result }) => result.kind === "held");
  const wordOf = (check: Check) => (isWhole && limited.includes(check) ? "429" : checkWords(check.name));
  const words = [...new Set(checks.map(wordOf))];
  return words.flatMap((word) =>
    heldWord(
      word,
      checks.filter((check) => wordOf(check) === word),
    ),
  );
}

function heldWord(word: string, checks: readonly Check[]): string[] {
  const held = checks.flatMap(({ result }) => (result.kind === "held" ? result : []));
  const [{ key = "", of = 0 } = {}] = held;
  const requests = [...new Set(held.flatMap((one) => one.requests ?? []))].sort((one, other) => one - other);
  const numbers = `: ${requests.length === 1 ? "request" : "requests"} ${listed(requests.map(String), "and")} of ${of}`;
  return held.length === 0 ? [] : [`${word} of ${nameOfKey(key)}${requests.length === 0 ? "" : numbers}`];
}

const resendWords: Readonly<Record<string, string>> = {
  "resend.429.without": "429 without Retry-After",
  "resend.429.seconds": "429 with Retry-After",
  "resend.429.date": "429 with a date",
  "resend.503.seconds": "503 with Retry-After",
};
const checkWords = (name: string) =>
  resendWords[name] ?? name.replace(/^resend\.(?:(403)\.)?/, (_, status) => (status ? `${status} ` : ""));

/** What was not judged, with the reason: the same one once. */
function notJudgedLines({ checks, notes }: Pick<CertifyResult, "checks" | "notes">): string[] {
  const ofChecks = checks.flatMap(({ name, result }) =>
    result.kind === "not_judged" ? [{ ...result.reason, what: checkWords(name) }] : [],
  );
  const byReason = new Map<string, string[]>();
  for (const { what, why, whatToDo } of [...ofChecks, ...notes]) {
    const reason = `${why}. ${whatToDo}`;
    byReason.set(reason, [...(byReason.get(reason) ?? []), what]);
  }
  return [...byReason].map(([reason, names]) => `Not judged: ${listed(names, "and")}: ${reason}`);
}
