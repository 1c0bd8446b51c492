import { nameOf } from "../checks/check.js";
import type { CertifyPlan } from "../checks/plan.js";
import type { ClientRun } from "./client-run.js";

/** The words of a command of svc-sandbox that shows a problem again, with the flags that its run needs. */
function againCommand(
  { flags, certifyFlags }: Pick<CertifyPlan, "flags" | "certifyFlags">,
  by: "exec" | "certify",
  ...words: readonly string[]
): string[] {
  const again = [by, ...words, ...flags];
  if (by === "certify") again.push(...certifyFlags);
  return again;
}

export function againWithOnly(plan: CertifyPlan, names: readonly string[]): string[] {
  const only: string[] = [];
  for (const name of names) only.push("--only", name);
  return againCommand(plan, "certify", ...only);
}

/** The words of the command that shows this run again: `exec`, if it can. It cannot end a run by time, answer wrongly or reject, and its `--fault` hits each request. */
export function againCommandOfRun(
  { purpose, result }: Pick<ClientRun, "purpose" | "result">,
  plan: CertifyPlan,
): string[] {
  const isMixed = purpose.kind === "varied" && purpose.seed === "mixed";
  const isByExec = result !== "timed_out" && !isMixed;
  if (isByExec && purpose.kind === "varied") {
    return againCommand(plan, "exec", "--profile", "varied", "--seed", String(purpose.seed));
  }
  if (isByExec && purpose.kind === "plain") {
    // A plain run is `minimal`. The default of `exec` is the scenario's profile.
    const { profile = "minimal" } = plan;
    if (profile === "minimal") return againCommand(plan, "exec");
    return againCommand(plan, "exec", "--profile", "minimal");
  }
  const words = ["--only", nameOf(purpose)];
  // The name of the mixed run does not have its seed.
  if (isMixed) words.push("--seed", String(plan.firstSeed));
  return againCommand(plan, "certify", ...words);
}

/** Lines that say what failed, as programs and runners of tests write them. */
const errorLines: readonly RegExp[] = [
  // An error with its name, in most languages; Node adds its code in brackets.
  /\b\w*(?:Error|Exception)\b(?: \[\w+\])?: \S/,
  // pytest
  /^E {2,}\S/,
  // node --test
  /^\s*error: \S/,
  /\bAssertion\w* failed/,
  // The mark of a test that failed, in Vitest, Jest and others.
  /^\s*[✖✗✘×●] \S/,
  // TAP
  /^not ok \S/,
  // go test, with its file and line
  /^\s+\S+\.go:\d+: \S/,
];

const failureLine = /\bFAIL(?:ED)?\b.*\S/;

/** A line that a package manager adds after the command: it explains nothing. */
const managerLine = /^npm (?:error|ERR!)|^\s*ELIFECYCLE\b|^error Command failed\b|^info Visit /;

/** The head of an error whose text is in the lines below it, as `node --test` writes it in YAML. */
const yamlBlock = /^\s*error: [|>][-+]?$/;

/** The last line of a command's output that says what failed, or else that something failed, or else any. No member if there is no output. */
export function lastLineOf({ output }: Pick<ClientRun, "output">): { readonly lastLine?: string } {
  const lines = output.filter((line) => !managerLine.test(line));
  const at = lines.findLastIndex((line) => errorLines.some((pattern) => pattern.test(line)));
  const line =
    lines[at] ??
    lines.findLast((text) => failureLine.test(text)) ??
    lines.findLast((text) => text.trim() !== "");
  if (line === undefined) return {};

  // The head of such a text is an error line.
  const text = yamlBlock.test(line) ? textBelow(lines.slice(at)) : line;
  return { lastLine: text.trim().slice(0, 300) };
}

/** The head, and the lines below it that are further to the right, on one line. */
function textBelow([head = "", ...below]: readonly string[]): string {
  const left = head.search(/\S/);
  const texts = [head.replace(/ [|>][-+]?$/, "").trim()];
  for (const line of below) {
    const text = line.trim();
    if (text === "") continue;
    if (line.search(/\S/) <= left) break;
    texts.push(text);
  }
  return texts.join(" ");
}
