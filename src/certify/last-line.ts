import type { ClientRun } from "./run.js";

const errorLine =
  /\b\w*(?:Error|Exception)\b(?: \[\w+\])?: \S|^E {2,}\S|^\s*error: \S|\bAssertion\w* failed|^\s*[✖✗✘×●] \S|^not ok \S|\bFAIL(?:ED)?\b.*\S/;

/** The start of a text below it in YAML, as `node --test` writes an error. */
const yamlBlock = /^\s*error: [|>][-+]?$/;

/** The last line of a command that shows an error, or its last line. */
export function lastLineOf({ output }: Pick<ClientRun, "output">): { readonly lastLine?: string } {
  const at = output.findLastIndex((line) => errorLine.test(line));
  const line = output[at] ?? output.findLast((text) => text.trim() !== "");
  if (line === undefined) return {};
  const text = yamlBlock.test(line) ? textBelow(output.slice(at)) : line;
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
