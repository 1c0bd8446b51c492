import { escapeControls } from "../../rules/redact.js";
import type { PlayedStep, StepEvent, StoryResponse } from "../../sandbox/steps.js";
import { errorCodeOf } from "../../sandbox/story/run-step.js";
import { actionIntent, requestIntent, stepIntent } from "../../sandbox/story/step-text.js";
import { type Palette, paintStatus, responseText, shortTime } from "../terminal.js";

/** Describes a step of the story on one line: the action and its result. Narration is shortened. */
export function stepLine(result: PlayedStep, palette: Palette): string {
  const { say, step, failure, performed, response, now } = result;
  if (say !== null) return palette.dim(onOneLine(say));
  if (failure !== null) return `${intentionOf(result)} → ${palette.red(failure.code)}`;
  if (response !== null) return `${intentionOf(result)} → ${responseLine(response, palette)}`;
  if (step.advance !== undefined) return `advance ${step.advance} → ${shortTime(now)}`;
  return actionLine({ step, performed });
}

/** Describes an action in a few words, with its rejection: `rotate active → active-2, overlap 60m`. */
export function actionLine({ step, performed }: Pick<PlayedStep, "step" | "performed">): string {
  const rejection = performed?.rejection ?? null;
  const rejected = rejection === null ? "" : ` → rejected: ${rejection.code} (${rejection.message})`;
  return escapeControls(actionIntent(step, performed) + rejected);
}

/** Describes a step of the timeline or the story as a line of the log: the sandbox's time, the source, the action. */
export function stepLogLine({ type, result }: StepEvent, palette: Palette): string {
  const [at, whose, text] =
    type === "timeline.step"
      ? [result.at, "timeline", actionLine(result)]
      : [result.now, `story ${result.number}/${result.of}`, stepLine(result, palette)];
  const unexpected = result.differences.map(({ at, expected, found }) =>
    palette.red(escapeControls(`unexpected: ${at}: expected ${expected}, found ${found}`)),
  );
  return [palette.dim(`${at.slice(0, 19)}Z`), palette.magenta(whose), text, ...unexpected].join("  ");
}

// A sent request shows its path.
function intentionOf({ step, request }: PlayedStep): string {
  return escapeControls(request === null ? stepIntent(step) : requestIntent(request));
}

function responseLine(response: StoryResponse, palette: Palette): string {
  const { status, pathId, fault } = response;
  const paths = fault === null || fault === pathId ? pathId : `${pathId}, ${fault}`;
  const text = escapeControls(responseText({ status, code: errorCodeOf(response) }));
  return `${paintStatus(palette, status)(text)}  ${palette.dim(paths)}`;
}

function onOneLine(text: string): string {
  const line = escapeControls(text.trim().replace(/\s+/g, " "));
  return line.length <= 60 ? line : `${line.slice(0, 59).trimEnd()}…`;
}
