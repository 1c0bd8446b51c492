import wrapAnsi from "wrap-ansi";
import { escapeControls } from "../../domain/printable.js";
import { redactKeys } from "../../domain/redact.js";
import { pluralize } from "../../report/plain-text.js";
import type { Action, Performed, StepResult } from "../../sandbox/story/story.js";
import type { World } from "../../sandbox/world.js";
import type { Style } from "../terminal.js";
import { answerLines, requestLines } from "./exchange.js";
import { effectsOf, overlapOf } from "./step-line.js";
import type { PlacedProblem } from "./verdict.js";

/** The title of a story, the time at which it begins, and what there is to know before: a sentence or two. */
export function openingProse({ name, scenario, clock }: World, outline: string, style: Style): string {
  const { palette, width } = style;
  const time = `It is ${timeInWords(new Date(clock.now()).toISOString())} (UTC), and the clock stands still.`;
  return [
    ...prose(scenario.name ?? name, width).map(palette.bold),
    ...prose(time, width).map(palette.dim),
    ...prose(outline, width).map(palette.dim),
    "",
    "",
  ].join("\n");
}

/**
 * A step as a narrator tells it, with what the timeline did during it and what is not as expected; ends with an empty
 * line. Prose keeps to the width, requests and answers stand as they are.
 */
export function stepProse(
  result: StepResult,
  problems: readonly PlacedProblem[],
  world: World,
  style: Style,
): string {
  const timeline = result.timeline.flatMap(({ at, step, performed }) =>
    actionLines(`Meanwhile, at ${timeInWords(at)}: `, step, performed, style),
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
  const { palette, width, isTerminal } = style;
  if (say !== null) return prose(say, width);
  // The problem says it.
  if (failure !== null) return [];
  if (request !== null && answer !== null) {
    const indented = (line: string) => (line === "" ? "" : `  ${line}`);
    return [...requestLines(request, world, style), "", ...answerLines(answer, style)].map(indented);
  }
  if (performed !== null) return actionLines("", step, performed, style);
  const passes = durationInWords(step.advance ?? "");
  const verb = passes.startsWith("1 ") ? "passes" : "pass";
  const clock = `${isTerminal ? "⏱ " : ""}${passes} ${verb}: it is ${timeInWords(now)}.`;
  return prose(clock, width).map(palette.blue);
}

function actionLines(
  before: string,
  action: Action,
  performed: Performed,
  { palette, width }: Style,
): string[] {
  const text = prose(before + actionSentences(action, performed), width);
  const { refusal } = performed;
  if (refusal === null) return text.map(palette.magenta);
  return [...text.map(palette.yellow), ...prose(refusal.message, width).map(palette.dim)];
}

function problemLines(problems: readonly PlacedProblem[], { palette, width, isTerminal }: Style): string[] {
  const mark = isTerminal ? "✗ " : "";
  return problems.flatMap(({ at, message, place }) => {
    const what = at === null ? "This step cannot run" : "Not as the story expects";
    // On a line of its own: terminals open what looks like a place in a file.
    const where = place === undefined ? [] : [`${place.file ?? ""}:${place.line}:${place.column}`];
    return [
      "",
      ...[...prose(`${mark}${what}: ${message}`, width), ...where.map(escapeControls)].map(palette.red),
    ];
  });
}

function prose(text: string, width: number): string[] {
  const lines = text.trim().split(/\r?\n/).map(escapeControls);
  return wrapAnsi(redactKeys(lines.join("\n")), width, { hard: true }).split("\n");
}

function actionSentences(action: Action, performed: Performed): string {
  const { refusal } = performed;
  const { create_key: created, rotate, revoke, faults } = action;
  // Faults are never refused.
  if (faults?.length === 0) return "The network works again: no more faults.";
  if (faults !== undefined) return `From now on requests may meet faults: ${effectsOf(faults)}.`;
  const { actor: role = "administrator" } = created ?? rotate ?? revoke ?? {};
  const administrator = role === "member" ? "A member of the organization" : "An administrator";
  const { actor = administrator, verb, object, after = "" } = sentenceOf(action, performed);
  if (refusal !== null) return `${actor} tries to ${verb} ${object}. It is refused: ${refusal.code}.`;
  return `${actor} ${verb}s ${object}.${after}`;
}

interface Sentence {
  /** Default: the one that the action names. */
  readonly actor?: string;
  /** One whose third person ends with an s. */
  readonly verb: string;
  readonly object: string;
  /** The sentence about what comes of it. */
  readonly after?: string;
}

function sentenceOf(action: Action, { key, replacement }: Performed): Sentence {
  const { create_key: created, rotate, revoke, organization, consent } = action;
  if (created !== undefined) {
    const { ref = key?.ref, environment, organization: owner, name } = created;
    const named = ref === undefined ? "key" : `key ${ref}`;
    return { verb: "create", object: `the ${environment} ${named} for ${owner} (${JSON.stringify(name)})` };
  }
  if (rotate !== undefined) {
    const made = replacement?.ref ?? rotate.as ?? "another one";
    const after = ` The new key is ${made}; ${oldKey(overlapOf(rotate))}.`;
    return { verb: "rotate", object: `the key ${rotate.key}`, after };
  }
  if (revoke !== undefined) return { verb: "revoke", object: `the key ${revoke.key}` };
  if (organization !== undefined) {
    const { ref, ...changes } = organization;
    const what = Object.entries(changes).map(([name, value]) => changeInWords(name, value));
    return { verb: "set", object: `${what.join(" and ")} for ${ref}` };
  }
  const { farmer, do: verb = "", organization: ref } = consent ?? {};
  const asked = ref === undefined ? "" : ` of ${ref}`;
  return { actor: `The farmer number ${farmer}`, verb, object: `the consent request${asked}` };
}

function oldKey(overlap: string): string {
  if (/^\+?0+[a-z]+$/.test(overlap)) return "the old one stops working at once";
  return `the old one works for ${durationInWords(overlap).replace(/^(\d+)/, "$1 more")}`;
}

function changeInWords(name: string, value: unknown): string {
  const words = { true: "on", false: "off" }[String(value)] ?? String(value).replace("_", " ");
  return `the ${name.replace("_", " ")} to ${words}`;
}

const units: Record<string, string> = { ms: "millisecond", s: "second", m: "minute", h: "hour", d: "day" };

/** About how long something takes: `40 seconds`, `3 minutes`. */
export function roughly(milliseconds: number): string {
  const seconds = Math.max(1, Math.round(milliseconds / 1000));
  return seconds < 90 ? pluralize(seconds, "second") : pluralize(Math.round(seconds / 60), "minute");
}

// `61m` is "61 minutes".
function durationInWords(duration: string): string {
  const [, count, unit = ""] = /^\+?(\d+)([a-z]+)$/.exec(duration) ?? [];
  return units[unit] === undefined ? duration : pluralize(Number(count), units[unit]);
}

const date = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });

// `10:01 on 2 March 2026`; seconds only where there are some.
function timeInWords(iso: string): string {
  const at = new Date(iso).toISOString();
  const seconds = at.slice(17, 19) === "00" ? "" : at.slice(16, 19);
  return `${at.slice(11, 16)}${seconds} on ${date.format(new Date(iso))}`;
}
