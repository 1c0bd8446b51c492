import { shellWord } from "../../report/curl-line.js";
import { alignColumns } from "../../report/plain-text.js";
import { checkLines, responseFacts } from "../../report/request-text.js";
import { type AdviceId, adviceOf } from "../../rules/advice.js";
import type { Style } from "../output/terminal.js";
import type { ExplainedKey } from "./explain-key.js";

/** The explanation for people, without colors. */
export function explanationText(explained: ExplainedKey, scenario: string, program: string): string {
  const { url, method, path, at, fault_outcomes: faults } = explained;

  const lines: string[] = [];
  if (url === null) lines.push(`This is what ${scenario} would respond.`);
  const sandbox = url === null ? `scenario ${scenario}` : `scenario ${scenario} on ${url}`;
  lines.push(`${method} ${path} with ${sentKeyText(explained)}, ${sandbox}, at ${at}`, "");
  lines.push(...checkLines(explained.checks), "");

  const facts = responseFacts({ ...explained, whatToDo: explained.what_to_do });
  if (faults.length > 0) {
    const show = `${program} show ${shellWord(scenario)}`;
    facts.push(["Faults", `${faults.join(", ")} may replace this response; ${show}`]);
  }
  lines.push(...alignColumns(facts));
  return lines.join("\n");
}

/** The key in a sentence: by its ref if the sandbox has it. */
function sentKeyText({ key, fingerprint, key_form: form }: ExplainedKey): string {
  if (key !== null) return `the key ${key}`;
  if (fingerprint === null) return "no key";
  const stranger = `a key of fingerprint ${fingerprint}`;
  return form === null ? stranger : `${stranger} (${form})`;
}

const realKeyWarning =
  "This looks like a real key: it is well-formed, not one of this scenario, and lacks the mark of a sandbox key (sbx). If it is real, rotate it: it has been in your shell, and perhaps in its history.";

/** What the user should know about a key that the sandbox does not have. */
export function keyNotes(explained: ExplainedKey): string[] {
  const notes: string[] = [];
  if (explained.real_key_suspected) notes.push(realKeyWarning);
  if (explained.key_of_another_sandbox) notes.push(adviceNote("key-of-another-sandbox"));
  if (explained.key_cut) notes.push(adviceNote("key-cut"));
  if (explained.other_prefix_of !== null) {
    notes.push(
      `This is the key ${explained.other_prefix_of} with another prefix, so it is an unknown key (R15). Send it with its own prefix, which shows the environment.`,
    );
  }
  return notes;
}

function adviceNote(id: AdviceId): string {
  const { meaning, whatToDo } = adviceOf(id);
  return `${meaning} ${whatToDo}`;
}

/** How the results of checks look. */
const resultMarks = {
  passed: { sign: "✓", color: "green" },
  rejected: { sign: "✗", color: "red" },
  "not reached": { sign: "·", color: "dim" },
} as const;

/** The line of a check, as `checkLines` writes it: `  passed  key  Is the key known?`. */
const checkLine = /^ {2}(passed|rejected|not reached) +(.*)$/;

/** Colors the checks of an explanation, whose text may be from another process. On a terminal, their results are signs. */
export function paintExplanation(text: string, style: Style): string {
  const lines = text.split("\n").map((line) => paintCheck(line, style));
  return lines.join("\n");
}

/** Colors the line of a check; any other line is unchanged. */
function paintCheck(line: string, { palette, isTerminal }: Style): string {
  const [, result, question] = checkLine.exec(line) ?? [];
  if (result === undefined) return line;
  const { sign, color } = resultMarks[result as keyof typeof resultMarks]; // the pattern has these three
  const painted = isTerminal ? `${sign}  ${question}` : line.trimStart();
  return `  ${palette[color](painted)}`;
}
