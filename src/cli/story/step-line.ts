import { defaultOverlap } from "../../domain/api-key.js";
import { escapeControls } from "../../domain/printable.js";
import type { StepEvent } from "../../sandbox/events.js";
import { errorCodeOf } from "../../sandbox/story/differences.js";
import type { Action, Performed, StepResult, StoryAnswer } from "../../sandbox/story/story.js";
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
  const refused = refusal === null ? "" : ` → refused: ${refusal.code} (${refusal.message})`;
  return escapeControls(doingLine(step, performed) + refused);
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

function doingLine(action: Action, performed: Performed | null): string {
  const { create_key: created, rotate, revoke, organization, consent, faults } = action;
  if (created !== undefined) {
    const ref = performed?.key?.ref ?? created.ref ?? created.name;
    return `create_key ${ref} for ${created.organization}, ${created.environment}${actorOf(created)}`;
  }
  if (rotate !== undefined) {
    const to = performed?.replacement?.ref ?? rotate.as;
    const keys = to === undefined ? rotate.key : `${rotate.key} → ${to}`;
    return `rotate ${keys}, overlap ${overlapOf(rotate)}${actorOf(rotate)}`;
  }
  if (revoke !== undefined) return `revoke ${revoke.key}${actorOf(revoke)}`;
  if (organization !== undefined) {
    const { ref, ...changes } = organization;
    const words = Object.entries(changes).map(([name, value]) => `${name} ${value}`);
    return `organization ${ref}: ${words.join(", ")}`;
  }
  if (consent !== undefined) {
    const asked = consent.organization === undefined ? "" : ` of ${consent.organization}`;
    return `consent: the farmer ${consent.farmer} ${consent.do}s the request${asked}`;
  }
  return `faults: ${faults === undefined || faults.length === 0 ? "none" : effectsOf(faults)}`;
}

/** The overlap of the replaced key, as durations are written. */
export function overlapOf({ overlap }: { readonly overlap?: string }): string {
  return overlap ?? `${defaultOverlap / 60_000}m`;
}

/** The effects of faults in a few words: `latency, status 503`. */
export function effectsOf(faults: NonNullable<Action["faults"]>): string {
  const effects = faults.map(({ then }) =>
    Object.entries(then)
      .filter(([name, value]) => name !== "body" && value !== false)
      .map(([name, value]) => (name === "status" ? `status ${value}` : name))
      .join(" and "),
  );
  return effects.join(", ");
}

function actorOf({ actor }: { readonly actor?: string }): string {
  return actor === "member" ? ", as a member" : "";
}

const withKey: Readonly<Record<string, string>> = {
  none: "without a key",
  malformed: "with a malformed key",
  unknown: "with an unknown key",
};

function intentionOf({ step, request }: StepResult): string {
  if (step.advance !== undefined) return `advance ${step.advance}`;
  const { method = "GET", path = "", key = step.request?.key, times = 1 } = request ?? {};
  const start = request === null ? "request" : `${method} ${path}`;
  const repeated = times === 1 ? "" : `, ${times} times`;
  return escapeControls(`${start}${key === undefined ? "" : ` ${withKey[key] ?? `with ${key}`}`}${repeated}`);
}

function answerLine(answer: StoryAnswer, palette: Palette): string {
  const { status, pathId, fault } = answer;
  const paths = fault === null || fault === pathId ? pathId : `${pathId}, ${fault}`;
  const text = escapeControls(answerText({ status, code: errorCodeOf(answer) }));
  return `${paintStatus(palette, status)(text)}  ${palette.dim(paths)}`;
}
