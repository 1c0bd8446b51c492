import { oneSafeLine } from "../rules/terminal-text.js";
import { whereSeen } from "./assumptions/assumptions.js";
import type { Comparison } from "./compare.js";

/** The first line of the file; only a file with it is replaced. */
export const learnedHeading = "# Written by compare, which replaces this file: extend it.";

type LearnedFile = Pick<Comparison, "assumptions" | "seen" | "url" | "comparedAt">;

/** Returns a scenario with the learned assumptions, of which there is one at least; of the URL, it contains only the host. */
export function learnedScenario({ assumptions, seen, url, comparedAt }: LearnedFile): string {
  const lines: string[] = [];
  for (const [name, learned] of Object.entries(assumptions)) {
    lines.push(`  ${name}: ${JSON.stringify(learned.value)} # ${whereSeen(learned)}`);
  }

  // What no assumption sets is a comment.
  let comments = "";
  for (const [name, values] of Object.entries(seen)) {
    for (const { value, from } of values) {
      comments += `#   ${name}: ${oneSafeLine(value)} (${from.join(", ")})\n`;
    }
  }
  if (comments !== "") comments = `# Not in this scenario, which has the keys of key-states:\n${comments}`;

  return `${learnedHeading}
# What ${oneSafeLine(new URL(url).host)} does, compared at ${comparedAt}.
${comments}version: 1
extends: key-states
assumptions:
${lines.join("\n")}
`;
}

/** Whether a comparison has written a file. Editors add a byte order mark, `---` and comments before its heading. */
export function isLearnedScenario(text: string): boolean {
  const lines = text.replace(/^\uFEFF/, "").split("\n");
  for (const line of lines) {
    const content = line.trimEnd();
    if (content === learnedHeading) return true;
    const canPrecedeHeading = /^(?:#.*|---)?$/.test(content);
    if (!canPrecedeHeading) return false;
  }
  return false;
}
