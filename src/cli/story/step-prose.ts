import { pluralize } from "../../report/plain-text.js";
import type { Action, Performed, StepResult } from "../../sandbox/steps.js";
import { actionSentences, clockSentence, timeInWords } from "../../sandbox/story/step-text.js";
import type { World } from "../../sandbox/world.js";
import { escapeControls, redactKeys } from "../../spec/redact.js";
import type { Style } from "../terminal.js";
import { answerLines, requestLines } from "./exchange.js";
import type { PlacedProblem } from "./verdict.js";

/** Returns a story's title, its start time and its outline. */
export function openingProse({ name, scenario, clock }: World, outline: string, style: Style): string {
  const { palette } = style;
  const time = `It is ${timeInWords(new Date(clock.now()).toISOString())} (UTC), and the clock is frozen.`;
  return [
    palette.bold(prose(scenario.name ?? name)),
    palette.dim(time),
    palette.dim(prose(outline)),
    "",
    "",
  ].join("\n");
}

/**
 * Describes a step as a narrator, with the timeline's actions in between and unexpected results. Ends with an empty line. */
export function stepProse(
  result: StepResult,
  problems: readonly PlacedProblem[],
  world: World,
  style: Style,
): string {
  const timeline = result.timeline.flatMap(({ at, step, performed }) =>
    actionLines(`In between, at ${timeInWords(at)}: `, step, performed, style),
  );
  const heading = style.palette.dim(`Step ${result.number} of ${result.of}`);
  const lines = [
    heading,
    ...stepLines(result, world, style),
    ...timeline,
    ...problemLines(problems, style),
    "",
  ];
  return `${lines.join("\n")}\n`;
}

function stepLines(result: StepResult, world: World, style: Style): string[] {
  const { say, request, answer, performed, step, failure, now } = result;
  const { palette, isTerminal } = style;
  if (say !== null) return [prose(say)];
  // The problem describes it.
  if (failure !== null) return [];
  if (request !== null && answer !== null) {
    const indented = (line: string) => (line === "" ? "" : `  ${line}`);
    return [...requestLines(request, world, style), "", ...answerLines(answer, style)].map(indented);
  }
  if (performed !== null) return actionLines("", step, performed, style);
  return [palette.blue(`${isTerminal ? "⏱ " : ""}${clockSentence(step.advance ?? "", now)}`)];
}

function actionLines(before: string, action: Action, performed: Performed, { palette }: Style): string[] {
  const text = prose(before + actionSentences(action, performed));
  const { refusal } = performed;
  if (refusal === null) return [palette.magenta(text)];
  return [palette.yellow(text), palette.dim(prose(refusal.message))];
}

function problemLines(problems: readonly PlacedProblem[], { palette, isTerminal }: Style): string[] {
  const mark = isTerminal ? "✗ " : "";
  return problems.flatMap(({ at, message, place }) => {
    const what = at === null ? "This step cannot run" : "Unexpected result";
    // On a separate line: terminals open file positions.
    const where = place === undefined ? [] : [`${place.file ?? ""}:${place.line}:${place.column}`];
    return ["", ...[prose(`${mark}${what}: ${message}`), ...where.map(escapeControls)].map(palette.red)];
  });
}

function prose(text: string): string {
  // A line that starts with two colons is a command in a CI log.
  return redactKeys(escapeControls(text.trim().replace(/\s*\n\s*/g, " "))).replace(/^::/, ": :");
}

/** Returns an approximate duration: `40 seconds`, `3 minutes`. */
export function roughly(milliseconds: number): string {
  const seconds = Math.max(1, Math.round(milliseconds / 1000));
  return seconds < 90 ? pluralize(seconds, "second") : pluralize(Math.round(seconds / 60), "minute");
}
