import { redactKeys } from "../domain/redact.js";
import { escapeControls } from "../report/plain-text.js";
import type { World } from "../sandbox/world.js";
import { actionSentences } from "./action-sentences.js";
import { answerLines, requestLines } from "./exchange-text.js";
import { durationInWords, timeInWords } from "./in-words.js";
import type { Palette } from "./palette.js";
import type { StepProblem } from "./step-places.js";
import type { TellingStep } from "./tell-step.js";
import { wrap } from "./wrap.js";

/** How a story is shown. */
export interface Stage {
  readonly palette: Palette;
  /** Whether signs are shown beside words. */
  readonly isTerminal: boolean;
  readonly width: number;
}

/** What comes before the first step. */
export function openingText({ name, scenario, clock }: World, { palette, width }: Stage): string {
  const title = escapeControls(scenario.name ?? name);
  const time = `It is ${timeInWords(new Date(clock.now()).toISOString())} (UTC), and the clock stands still.`;
  return [...wrap(title, width).map(palette.bold), ...wrap(time, width).map(palette.dim), "", ""].join("\n");
}

/** A step as it is told, and what is wrong with it: prose within the width, what goes over the wire indented; ends with an empty line. */
export function stepText(
  told: TellingStep,
  problems: readonly StepProblem[],
  world: World,
  stage: Stage,
): string {
  return [...toldLines(told, world, stage), ...meanwhileLines(told, stage), ...slipLines(problems, stage), ""]
    .map((line) => `${line}\n`)
    .join("");
}

function toldLines(told: TellingStep, world: World, { palette, width, isTerminal }: Stage): string[] {
  const { say, request, answer, performed, step, failure } = told;
  if (say !== null) return prose(say, width);
  // What went wrong is told below.
  if (failure !== null) return [];
  if (request !== null && answer !== null) {
    const sent = requestLines(request, world, palette).map(indented);
    return [...sent, "", ...answerLines(answer, palette).map(indented)];
  }
  if (performed !== null) {
    const tone = performed.refusal === null ? palette.magenta : palette.yellow;
    const why = performed.refusal === null ? [] : prose(performed.refusal.message, width).map(palette.dim);
    return [...prose(actionSentences(step, performed), width).map(tone), ...why];
  }
  const passes = durationInWords(step.advance ?? "");
  const verb = passes.startsWith("1 ") ? "passes" : "pass";
  const clock = `${isTerminal ? "⏱ " : ""}${passes} ${verb}: it is ${timeInWords(told.now)}.`;
  return wrap(clock, width).map(palette.blue);
}

function meanwhileLines({ meanwhile }: TellingStep, { palette, width }: Stage): string[] {
  return meanwhile.flatMap(({ at, action, refusal, message }) => {
    const text = `Meanwhile, at ${timeInWords(at)}: ${actionSentences(action, { refusal: refusal === null ? null : { code: refusal } })}`;
    if (refusal === null) return prose(text, width).map(palette.magenta);
    const why = message === null ? [] : prose(message, width).map(palette.dim);
    return [...prose(text, width).map(palette.yellow), ...why];
  });
}

function slipLines(problems: readonly StepProblem[], { palette, width, isTerminal }: Stage): string[] {
  const mark = isTerminal ? "✗ " : "";
  return problems.flatMap(({ at, message, place }) => {
    const slip = at === null ? "This step cannot be told" : "Not as the story expects";
    // Not wrapped together with the rest: terminals open what looks like a place in a file.
    const where = place === undefined ? [] : [`${place.file ?? ""}:${place.line}:${place.column}`];
    return [
      "",
      ...[...prose(`${mark}${slip}: ${message}`, width), ...where.map(escapeControls)].map(palette.red),
    ];
  });
}

function prose(text: string, width: number): string[] {
  const lines = text.trim().split(/\r?\n/).map(escapeControls);
  return wrap(redactKeys(lines.join("\n")), width);
}

function indented(line: string): string {
  return line === "" ? "" : `  ${line}`;
}
