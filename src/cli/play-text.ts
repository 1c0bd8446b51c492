import { redactKeys } from "../domain/api-key.js";
import { visible } from "../report/visible.js";
import type { World } from "../sandbox/world.js";
import { actionSentences } from "./action-sentences.js";
import { answerLines, requestLines } from "./exchange-text.js";
import { durationInWords, timeInWords } from "./in-words.js";
import type { Palette } from "./palette.js";
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
  const title = visible(scenario.name ?? name);
  const time = `It is ${timeInWords(new Date(clock.now()).toISOString())} (UTC), and the clock stands still.`;
  return [...wrap(title, width).map(palette.bold), ...wrap(time, width).map(palette.dim), "", ""].join("\n");
}

/** A step as it is told: prose within the width, what goes over the wire indented; ends with an empty line. */
export function stepText(told: TellingStep, world: World, stage: Stage): string {
  return [...toldLines(told, world, stage), ...meanwhileLines(told, stage), ...slipLines(told, stage), ""]
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

function slipLines({ failure, differences }: TellingStep, { palette, width, isTerminal }: Stage): string[] {
  const mark = isTerminal ? "✗ " : "";
  const slips = [
    ...(failure === null ? [] : [`${mark}This step cannot be told: ${failure.message}`]),
    ...differences.map(
      ({ at, expected, found }) =>
        `${mark}Not as the story expects: ${at}: expected ${expected}, found ${found}`,
    ),
  ];
  return slips.flatMap((slip) => ["", ...prose(slip, width).map(palette.red)]);
}

function prose(text: string, width: number): string[] {
  const lines = text.trim().split(/\r?\n/).map(visible);
  return wrap(redactKeys(lines.join("\n")), width);
}

function indented(line: string): string {
  return line === "" ? "" : `  ${line}`;
}
