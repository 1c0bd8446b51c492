import { escapeControls } from "../rules/terminal-text.js";
import { isoOf } from "../rules/time.js";
import { type Learned, whereSeen } from "./assumptions.js";
import type { Seen } from "./seen.js";

/** The first line of the file; only a file with it is replaced. */
export const learnedHeading = "# Written by compare, which replaces this file: extend it.";

/** Whether a comparison has written a file. Editors add a byte order mark, `---` and comments before its heading. */
export function isLearnedScenario(text: string): boolean {
  const lines = text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map((line) => line.trimEnd());
  const content = lines.findIndex((line) => !/^(?:#.*|---)?$/.test(line));
  return lines.slice(0, content === -1 ? lines.length : content).includes(learnedHeading);
}

interface LearnedFile extends Pick<Learned, "assumptions"> {
  readonly seen: Seen;
  readonly url: string;
}

/** Returns a scenario with the learned assumptions; of the URL, it contains only the host. */
export function learnedScenario({ assumptions, seen, url }: LearnedFile, time: number): string {
  const lines: string[] = [];
  for (const [name, learned] of Object.entries(assumptions))
    lines.push(`  ${name}: ${JSON.stringify(learned.value)} # ${whereSeen(learned)}`);

  let others = "";
  for (const [name, values] of Object.entries(seen))
    for (const { value, from } of values)
      others += `#   ${name}: ${escapeControls(value)} (${from.join(", ")})\n`;
  if (others !== "") others = `# Not in this scenario, which has the keys of key-states:\n${others}`;

  return `${learnedHeading}
# What ${escapeControls(new URL(url).host)} does, compared at ${isoOf(time)}.
${others}version: 1
extends: key-states
assumptions:
${lines.join("\n")}
`;
}
