import { escapeControls } from "../../domain/printable.js";
import type { StepEvent } from "../../world/events.js";
import type { StepResult, StoryAnswer } from "../../world/steps.js";
import { errorCodeOf } from "../../world/story/differences.js";
import { actionIntent, requestIntent, stepIntent } from "../../world/story/step-text.js";
import { answerText, type Palette, paintStatus, shortened, shortTime } from "../terminal.js";

/** A step of the story in one line: what it did, and what came of it; narration is cut to the width. */
export function stepLine(result: StepResult, palette: Palette, width = Number.POSITIVE_INFINITY): string {
  const { say, step, failure, performed, answer, now } = result;
  if (say !== null) return palette.dim(shortened(say, width));
  if (failure !== null) return `${intentionOf(result)} → ${palette.red(failure.code)}`;
  if (answer !== null) return `${intentionOf(result)} → ${answerLine(answer, palette)}`;
  if (step.advance !== undefined) return `advance ${step.advance} → ${shortTime(now)}`;
  return actionLine({ step, performed });
}

/** An action in a few words, and how it was refused: `rotate active → active-2, overlap 60m`. */
export function actionLine({ step, performed }: Pick<StepResult, "step" | "performed">): string {
  const refusal = performed?.refusal ?? null;
  const refused = refusal === null ? "" : ` → rejected: ${refusal.code} (${refusal.message})`;
  return escapeControls(actionIntent(step, performed) + refused);
}

/** A step of the timeline or the story as a line of the log: the time on the sandbox's clock, what it is a step of, what it did. */
export function stepLogLine({ type, result }: StepEvent, palette: Palette): string {
  const [at, whose, text] =
    type === "timeline.step"
      ? [result.at, "timeline", actionLine(result)]
      : [result.now, `story ${result.number}/${result.of}`, stepLine(result, palette)];
  const unexpected = result.differences.map(({ at, expected, found }) =>
    palette.red(escapeControls(`not as expected: ${at}: expected ${expected}, found ${found}`)),
  );
  return [palette.dim(`${at.slice(0, 19)}Z`), palette.magenta(whose), text, ...unexpected].join("  ");
}

// A request that was sent says where it went.
function intentionOf({ step, request }: StepResult): string {
  return escapeControls(request === null ? stepIntent(step) : requestIntent(request));
}

function answerLine(answer: StoryAnswer, palette: Palette): string {
  const { status, pathId, fault } = answer;
  const paths = fault === null || fault === pathId ? pathId : `${pathId}, ${fault}`;
  const text = escapeControls(answerText({ status, code: errorCodeOf(answer) }));
  return `${paintStatus(palette, status)(text)}  ${palette.dim(paths)}`;
}
