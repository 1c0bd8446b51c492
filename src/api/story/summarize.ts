import { faultKinds } from "../../rules/fault-effects.js";
import {
  type ActionResult,
  allDifferences,
  keyRefsOf,
  type PlayedStep,
  type SentRequest,
  type StepAction,
  type StoryStep,
  viewDifference,
} from "../../sandbox/steps.js";
import { type ActionName, actionName, actionRow } from "../../scenario/actions.js";
import { errorCodeOf } from "./run-story.js";

// Created on first use, because it takes as long as half a start.
let dateFormat: Intl.DateTimeFormat | undefined;

/** `10:01 on 2 March 2026`; with seconds unless they are 0. */
export function timeInWords(iso: string): string {
  const at = new Date(iso).toISOString();
  const seconds = at.slice(17, 19) === "00" ? "" : at.slice(16, 19);
  dateFormat ??= new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
  return `${at.slice(11, 16)}${seconds} on ${dateFormat.format(new Date(iso))}`;
}

/**
 * The result of a step with its texts for people, as the control plane, `play --json` and `verify --json` show it. Contains the
 * secret of a key that the step made.
 */
export function stepView(result: PlayedStep) {
  const { step: _, response, timeline, ...shown } = result;
  // The steps of the timeline that ran during the step, counted from 1.
  const meanwhile = timeline.map(({ index, at, step, performed }) => {
    const text = summarizeAction(step, performed);
    return { timelineStep: index + 1, at, text, ...actionErrorOf(performed) };
  });
  const text = stepText(result);
  const shownResponse = response && { ...response, code: errorCodeOf(response) };
  const differences = allDifferences(result).map(viewDifference);
  return { ...shown, text, response: shownResponse, meanwhile, differences };
}

/** The error of an action that was rejected; `null` without one. */
export function actionErrorOf(performed: PlayedStep["performed"]) {
  const { code = null, message = null } = performed?.error ?? {};
  return { error: code, message };
}

/** What a step did, and the time that it let pass; `null` for narration and a request without a wait, and for a step that could not run. */
export function stepText({ step, performed, failure, now }: PlayedStep): string | null {
  if (failure !== null) return null;
  if (performed !== null) return summarizeWait(step) + summarizeAction(step, performed);
  const passed = step.advance ?? step.after;
  return passed === undefined ? null : `${passed} later: ${timeInWords(now)}`;
}

/** Summarizes a step, whether or not it has sent its request: `after 2h: request with retiring`, `advance 30m`. */
export function summarizeStep(step: StoryStep, sent: SentRequest | null = null): string {
  return summarizeWait(step) + summarizeAct(step, sent);
}

/** `after 2h: `, before what a step does; empty for a step without a wait. */
export function summarizeWait({ after }: StoryStep): string {
  return after === undefined ? "" : `after ${after}: `;
}

function summarizeAct(step: StoryStep, sent: SentRequest | null): string {
  const { request, advance } = step;
  if (advance !== undefined) return `advance ${advance}`;
  if (request === undefined) return summarizeAction(step);
  if (sent !== null) return summarizeRequest(sent);
  const { method = "", path = "", key, repeat: times = 1 } = request;
  return summarizeRequest({ method, path, key, times });
}

/** A request as it was sent, or as its step writes it: then the method and the path may be empty. */
function summarizeRequest({
  method,
  path,
  key,
  times,
}: Pick<SentRequest, "method" | "path" | "times"> & { readonly key: string | undefined }): string {
  let summary = `${method} ${path}`.trim() || "request";
  if (key === "none") summary += " without a key";
  else if (key === "malformed") summary += " with a malformed key";
  else if (key === "unknown") summary += " with an unknown key";
  else if (key !== undefined) summary += ` with ${key}`;
  if (times !== 1) summary += `, ${times} times`;
  return summary;
}

/** Summarizes an action, with the key that it created if it was performed, or its error: `rotate active, overlap 30m → active-2`. */
export function summarizeAction(action: StepAction, performed: ActionResult | null = null): string {
  const summary = actionWords(action);
  const error = performed?.error ?? null;
  if (error !== null) return `${summary} → rejected: ${error.code}`;

  // The new key of `create_key` is the key of the action; that of `rotate` replaces the key of the action.
  const { key, replacement } = performed === null ? keyRefsOf(action) : keyRefsOf(action, performed);
  const newRef = action.create_key === undefined ? replacement : key;
  return newRef === null ? summary : `${summary} → ${newRef}`;
}

/** An action without its result: `rotate active, overlap 30m`. */
function actionWords(action: StepAction): string {
  if (action.faults !== undefined) return `faults: ${effectList(action.faults) || "none"}`;
  const name = actionName(action) as ActionName; // an action has one of these members

  const { newKeyField } = actionRow(name);
  const words: string[] = [];
  for (const [field, value] of Object.entries(action[name] ?? {})) {
    // The ref of the new key comes last.
    if (field === newKeyField) continue;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    words.push(field === "key" || field === "ref" ? text : `${field} ${text}`);
  }
  return `${name} ${words.join(", ")}`;
}

/** Lists the effects of faults: `latency and status 503, reset`. What belongs to a status, such as its body, is no effect. */
function effectList(faults: NonNullable<StepAction["faults"]>): string {
  const effects: string[] = [];
  for (const { then } of faults) {
    const names: string[] = [];
    for (const [name, value] of Object.entries(then)) {
      const isKind = (faultKinds as readonly string[]).includes(name);
      if (!isKind || value === false) continue;
      names.push(name === "status" ? `status ${value}` : name);
    }
    effects.push(names.join(" and "));
  }
  return effects.join(", ");
}
