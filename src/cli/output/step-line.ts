import { errorCodeOf } from "../../api/story/compare-response.js";
import { summarizeAction, summarizeStep } from "../../api/story/narrate.js";
import { oneSafeLine } from "../../rules/terminal-text.js";
import { shortTime } from "../../rules/time.js";
import type { PlayedStep, StoryResponse } from "../../sandbox/steps.js";
import { type Palette, paintStatus, responseText, type Style, startOfLine } from "./terminal.js";

/** The most columns of narration in a log on a terminal. */
const maxNarration = 60;

/** Describes a step of the story on one line: the action and its result. On a terminal, narration is shortened. */
export function stepLine(result: PlayedStep, { palette, isTerminal }: Style): string {
  const { say, step, failure, response } = result;
  if (say !== null) return palette.dim(onOneLine(say, isTerminal));
  // A step may leave out the method and path of its request.
  const intent = oneSafeLine(summarizeStep(step, result.request));
  if (failure !== null) return `${intent} → ${palette.red(failure.code)}`;
  if (response !== null) return `${intent} → ${responseLine(response, palette)}`;
  if (step.advance !== undefined) return `advance ${step.advance} → ${shortTime(result.now)}`;
  return actionLine(result);
}

/** Describes an action in a few words, with its error: `rotate active → active-2, overlap 60m`. */
export function actionLine({ step, performed }: Pick<PlayedStep, "step" | "performed">): string {
  const intent = summarizeAction(step, performed);
  const error = performed?.error ?? null;
  if (error === null) return oneSafeLine(intent);
  return oneSafeLine(`${intent} → rejected: ${error.code} (${error.message})`);
}

/** A response of the story, with its outcome and its fault. */
function responseLine(response: StoryResponse, palette: Palette): string {
  const { status, outcome, fault } = response;
  const outcomes = fault === null || fault === outcome ? outcome : `${outcome}, ${fault}`;
  const text = oneSafeLine(responseText({ status, code: errorCodeOf(response) }));
  return `${paintStatus(palette, status)(text)}  ${palette.dim(outcomes)}`;
}

function onOneLine(text: string, isShortened: boolean): string {
  const line = oneSafeLine(text.trim().replace(/\s+/g, " "));
  return isShortened ? startOfLine(line, maxNarration) : line;
}
