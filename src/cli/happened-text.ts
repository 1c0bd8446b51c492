import { escapeControls } from "../report/plain-text.js";
import { actionDifferences, type Difference } from "../sandbox/story/difference.js";
import type { StepDetails, ToldDetails } from "../sandbox/story/step-details.js";
import type { Palette } from "./palette.js";
import { doneLine, stepLine } from "./step-line.js";

/** A step of the timeline or the story as one line of a log: time on the sandbox's clock, whose step it is, what it did. */
export function happenedText(details: StepDetails, palette: Palette): string {
  const [at, whose, text] =
    details.kind === "timeline"
      ? [details.at, "timeline", escapeControls(doneLine(details.step, details.performed))]
      : [details.told.now, `story ${details.told.number}/${details.told.of}`, toldText(details, palette)];
  const time = `${at.slice(0, 19)}Z`;
  return [palette.dim(time), palette.magenta(whose), text, ...unexpected(details, palette)].join("  ");
}

function toldText({ step, told }: ToldDetails, palette: Palette): string {
  if (told.performed !== null) return escapeControls(doneLine(step, told.performed));
  const wholeLine = Number.POSITIVE_INFINITY;
  return stepLine({ ...told, step, failure: null, meanwhile: [] }, wholeLine, palette);
}

function unexpected(details: StepDetails, palette: Palette): string[] {
  return differencesOf(details).map(({ at, expected, found }) =>
    palette.red(escapeControls(`not as expected: ${at}: expected ${expected}, found ${found}`)),
  );
}

// A step of the timeline that expects nothing may be refused.
function differencesOf(details: StepDetails): readonly Difference[] {
  if (details.kind === "story") return details.told.differences;
  const { step, performed } = details;
  return step.expect === undefined ? [] : actionDifferences(step.expect, performed);
}
