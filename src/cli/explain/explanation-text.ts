import { alignColumns } from "../../report/plain-text.js";
import { checkLines, responseFacts } from "../../report/request-text.js";
import { shellWord } from "../../report/shell-words.js";
import { type AdviceId, adviceOf } from "../../rules/advice.js";
import { type Palette, paintStatus, type Style } from "../output/terminal.js";
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

/** How the result of a check looks. */
const resultMarks = {
  passed: { sign: "✓", color: "green" },
  rejected: { sign: "✗", color: "red" },
  not_reached: { sign: "·", color: "dim" },
} as const;

/** The facts of an explanation that have a color. */
interface ColoredFacts {
  readonly checks: Parameters<typeof checkLines>[0];
  readonly status: number;
  readonly code: string | null;
  readonly outcome: string;
}

/**
 * Colors an explanation, which may be from another process: the lines of its checks, and its response. On a terminal, the
 * results of checks are signs.
 */
export function paintExplanation(text: string, facts: ColoredFacts, style: Style): string {
  const paintedChecks = new Map<string, string>();
  for (const [index, line] of checkLines(facts.checks).entries()) {
    const { result } = facts.checks[index] as ColoredFacts["checks"][number]; // each line is of one check
    paintedChecks.set(line, paintCheck(line, result, style));
  }

  const lines = text.split("\n").map((line) => paintedChecks.get(line) ?? line);
  return paintResponse(lines.join("\n"), facts, style.palette);
}

/** The line of a check: `  passed  key  Is the key known?`. */
function paintCheck(line: string, result: keyof typeof resultMarks, { palette, isTerminal }: Style): string {
  const { sign, color } = resultMarks[result];
  const content = line.trimStart();
  if (!isTerminal) return `  ${palette[color](content)}`;
  const afterResult = content.slice(result.length).trimStart();
  return `  ${palette[color](`${sign}  ${afterResult}`)}`;
}

/** Colors the first `401 unauthorized` that is followed by its outcome. */
function paintResponse(text: string, facts: ColoredFacts, palette: Palette): string {
  const { status, code, outcome } = facts;
  if (status === 0) return text;
  const response = code === null ? String(status) : `${status} ${code}`;
  const painted = paintStatus(palette, status)(response);
  return text.replace(`${response}  ${outcome}`, () => `${painted}  ${outcome}`);
}
