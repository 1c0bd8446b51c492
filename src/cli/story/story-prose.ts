import { narrateAction, narrateAdvance, timeInWords } from "../../api/story/narrate.js";
import { redactPlainKeys } from "../../rules/keys/redact.js";
import { oneSafeLine } from "../../rules/terminal-text.js";
import { isoTime } from "../../rules/time.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import type { ActionResult, PlayedStep } from "../../sandbox/step-results.js";
import type { StepAction } from "../../sandbox/steps.js";
import type { Style } from "../output/terminal.js";
import { requestLines, responseLines } from "./message-lines.js";
import type { PlacedDifference } from "./placed-differences.js";

/** What an audience reads before the first step. */
export function openingProse(sandbox: SandboxState, outline: string, { palette }: Style): string {
  const { name, scenario, clock } = sandbox;
  const time = `It is ${timeInWords(isoTime(clock.now()))} (UTC), and the clock is frozen.`;
  const lines = [palette.bold(prose(scenario.name ?? name)), palette.dim(time), palette.dim(prose(outline))];
  return `${lines.join("\n")}\n\n`;
}

/** Describes a step as a narrator, with what happened in between. */
export function stepProse(
  result: PlayedStep,
  problems: readonly PlacedDifference[],
  sandbox: SandboxState,
  style: Style,
): string {
  const lines = [style.palette.dim(`Step ${result.number} of ${result.of}`)];
  lines.push(...stepLines(result, sandbox, style));
  for (const { at, step, performed } of result.timeline) {
    lines.push(...actionLines(`In between, at ${timeInWords(at)}: `, step, performed, style));
  }
  for (const problem of problems) lines.push("", ...differenceLines(problem, style));
  return `${lines.join("\n")}\n\n`;
}

/** The lines of a step without what happened around it. */
function stepLines(result: PlayedStep, sandbox: SandboxState, style: Style): string[] {
  const { say, request, response, performed, step } = result;
  const { palette, isTerminal } = style;
  if (say !== null) return [prose(say)];
  // A step that failed is described by its problem.
  if (result.failure !== null) return [];
  if (request !== null && response !== null) {
    const lines = [...requestLines(request, sandbox, style), "", ...responseLines(response, style)];
    return lines.map((line) => (line === "" ? "" : `  ${line}`));
  }
  if (performed !== null) return actionLines("", step, performed, style);
  const sign = isTerminal ? "⏱ " : "";
  return [palette.blue(sign + narrateAdvance(step.advance ?? "", result.now))];
}

/** Describes an action, and why it was rejected if it was. */
function actionLines(
  before: string,
  action: StepAction,
  performed: ActionResult,
  { palette }: Style,
): string[] {
  const text = prose(before + narrateAction(action, performed));
  const { error } = performed;
  if (error === null) return [palette.magenta(text)];
  return [palette.yellow(text), palette.dim(prose(error.message))];
}

/** Describes what was not as expected, and where the scenario expects it. */
function differenceLines(
  { kind, message, place }: PlacedDifference,
  { palette, isTerminal }: Style,
): string[] {
  const sign = isTerminal ? "✗ " : "";
  const what = kind === "cannot_run" ? "This step cannot run" : "Unexpected result";
  const lines = [palette.red(prose(`${sign}${what}: ${message}`))];
  if (place !== undefined) {
    // On a separate line: terminals open file positions.
    const position = `${place.file ?? ""}:${place.line}:${place.column}`;
    lines.push(palette.red(oneSafeLine(position)));
  }
  return lines;
}

/** A text of the scenario as one line, without keys. */
function prose(text: string): string {
  // Joined to one line, the text cannot start a line with two colons, which would be a command in a CI log.
  return redactPlainKeys(oneSafeLine(text.trim().replace(/\s*\n\s*/g, " ")));
}
