import { escapeControls } from "../report/plain-text.js";
import type { Action, Performed } from "../sandbox/operations/perform-action.js";
import { errorCodeOf } from "../sandbox/story/difference.js";
import type { StoryAnswer } from "../sandbox/story/story.js";
import { actionLine } from "./action-line.js";
import { answerOf } from "./key-rows.js";
import { type Palette, paintStatus } from "./palette.js";
import type { TellingStep } from "./tell-step.js";

/** A step in one line: what was done, and what came of it. `width` is the room for what is said. */
export function stepLine(told: TellingStep, width: number, palette: Palette): string {
  const { step, failure, performed, now } = told;
  if (step.say !== undefined) return palette.dim(shortened(step.say, width));
  if (failure !== null) return `${intentionOf(told)} → ${palette.red(failure.code)}`;
  if (told.answer !== null) return `${intentionOf(told)} → ${answerLine(told.answer, palette)}`;
  if (step.advance !== undefined) return `advance ${step.advance} → ${shortTime(now)}`;
  const line = actionLine(step, performed);
  const refusal = performed?.refusal;
  return escapeControls(refusal == null ? line : `${line} → ${refusedAs(refusal.code, null)}`);
}

/** What the timeline did while the step was told, a line each. */
export function meanwhileLines({ meanwhile }: TellingStep): string[] {
  return meanwhile.map(({ at, action, refusal, message }) => {
    const refused = refusal === null ? "" : ` → ${refusedAs(refusal, message)}`;
    return escapeControls(`meanwhile, at ${shortTime(at)}: ${actionLine(action, null)}${refused}`);
  });
}

/** What an action has done, or why it was refused. */
export function doneLine(action: Action, performed: Performed): string {
  const { refusal } = performed;
  const line = actionLine(action, performed);
  return refusal === null ? line : `${line} → ${refusedAs(refusal.code, refusal.message)}`;
}

/** How a refusal is written: `refused: key_not_active (why)`. */
function refusedAs(code: string, message: string | null): string {
  return message === null ? `refused: ${code}` : `refused: ${code} (${message})`;
}

/** A time without the fraction that times of scenarios do not have: `2026-03-02T10:01:00Z`. */
export function shortTime(iso: string): string {
  return iso.replace(".000Z", "Z");
}

const withKey: Readonly<Record<string, string>> = {
  none: "without a key",
  malformed: "with a malformed key",
  unknown: "with a key that nobody holds",
};

function intentionOf({ step, request }: TellingStep): string {
  if (step.advance !== undefined) return `advance ${step.advance}`;
  const { method = "GET", path = "", key = step.request?.key, times = 1 } = request ?? {};
  const start = request === null ? "request" : `${method} ${path}`;
  const repeated = times === 1 ? "" : `, ${times} times`;
  return escapeControls(`${start}${key === undefined ? "" : ` ${withKey[key] ?? `with ${key}`}`}${repeated}`);
}

function answerLine(answer: StoryAnswer, palette: Palette): string {
  const { status, pathId, fault } = answer;
  const paths = fault === null || fault === pathId ? pathId : `${pathId}, ${fault}`;
  const text = escapeControls(answerOf({ status, code: errorCodeOf(answer) }));
  return `${paintStatus(palette, status)(text)}  ${palette.dim(paths)}`;
}

function shortened(text: string, width: number): string {
  const line = escapeControls(text.trim().replace(/\s+/g, " "));
  return line.length <= width ? line : `${line.slice(0, width - 1).trimEnd()}…`;
}
