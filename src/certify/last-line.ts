import type { ClientRun } from "./client-run.js";

/** What failed, as runners of tests write it; Go with its file and line. */
const errorLine =
  /\b\w*(?:Error|Exception)\b(?: \[\w+\])?: \S|^E {2,}\S|^\s*error: \S|\bAssertion\w* failed|^\s*[✖✗✘×●] \S|^not ok \S|^\s+\S+\.go:\d+: \S/;

/** That something failed, which such a line explains. */
const failureLine = /\bFAIL(?:ED)?\b.*\S/;

/** What a package manager adds. */
const managerLine = /^npm (?:error|ERR!)|^\s*ELIFECYCLE\b|^error Command failed\b|^info Visit /;

/** The start of a text below it in YAML, as `node --test` writes an error. */
const yamlBlock = /^\s*error: [|>][-+]?$/;

/** The last line of a command that shows an error, or its last line. */
export function lastLineOf({ output }: Pick<ClientRun, "output">): { readonly lastLine?: string } {
  const lines = output.filter((line) => !managerLine.test(line));
  const at = lines.findLastIndex((line) => errorLine.test(line));
  const line =
    lines[at] ??
    lines.findLast((text) => failureLine.test(text)) ??
    lines.findLast((text) => text.trim() !== "");
  if (line === undefined) return {};
  const text = yamlBlock.test(line) ? textBelow(lines.slice(at)) : line;
  return { lastLine: text.trim().slice(0, 300) };
}

/** The text of the first line, and of those below it that are further to the right, on one line. */
function textBelow([first = "", ...others]: readonly string[]): string {
  const left = first.search(/\S/);
  const end = others.findIndex((line) => line.trim() !== "" && line.search(/\S/) <= left);
  const lines = end === -1 ? others : others.slice(0, end);
  return [first.replace(/ [|>][-+]?$/, ""), ...lines]
    .map((line) => line.trim())
    .filter(Boolean)
    .join(" ");
}
