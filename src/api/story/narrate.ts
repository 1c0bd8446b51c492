import { faultKinds } from "../../rules/fault-effects.js";
import { defaultOverlap } from "../../rules/key-state.js";
import { accessInWords } from "../../rules/organization.js";
import { minute, type Overlap } from "../../rules/time.js";
import {
  type ActionResult,
  keyRefsOf,
  type PlayedStep,
  type SentRequest,
  type StepAction,
  type StoryStep,
} from "../../sandbox/steps.js";
import { type ActionName, actionName, actionRow } from "../../scenario/actions.js";

/** The words of an action in a sentence. */
interface ActionWords {
  /** Who acts. */
  readonly subject: string;
  readonly verb: string;
  readonly object: string;
  /** What follows, if it was not rejected. */
  readonly after?: string;
}

/** The units that durations in scenarios have. */
const unitWords: Readonly<Record<string, string>> = {
  ms: "millisecond",
  s: "second",
  m: "minute",
  h: "hour",
  d: "day",
};

/** The time that a step lets pass: `30 minutes pass: it is 09:30 on 2 March 2026.`; `null` for a step that lets none pass. */
export function narrateTime({ step, failure, now }: Pick<PlayedStep, "step" | "failure" | "now">) {
  if (failure !== null) return null;
  const times: string[] = [];
  for (const duration of [step.after, step.advance]) {
    if (duration !== undefined) times.push(durationInWords(duration));
  }
  const [first] = times;
  if (first === undefined) return null;
  const verb = times.length === 1 && first.startsWith("1 ") ? "passes" : "pass";
  return `${times.join(" and ")} ${verb}: it is ${timeInWords(now)}.`;
}

/** Narrates an action: who did what, and its result or error. */
export function narrateAction(action: StepAction, performed: ActionResult): string {
  const { error } = performed;
  if (action.faults !== undefined) {
    if (error !== null) return `The network stays as it is. The faults are rejected: ${error.code}.`;
    const effects = effectList(action.faults);
    if (effects === "") return "The network works again: no more faults.";
    return `Requests can now hit faults: ${effects}.`;
  }

  const { subject, verb, object, after = "" } = wordsOfAction(action, performed);
  if (error !== null) return `${subject} tries to ${verb} ${object}. It is rejected: ${error.code}.`;
  return `${subject} ${verb}s ${object}.${after}`;
}

/** The words of an action other than faults. */
function wordsOfAction(action: StepAction, performed: ActionResult): ActionWords {
  const { create_key: creation, rotate, revoke, expire, organization, assumptions } = action;
  const { actor } = creation ?? rotate ?? revoke ?? expire ?? {};
  const user = actor === "member" ? "A member of the organization" : "An administrator";
  if (creation !== undefined) {
    const createdRef = creation.ref ?? performed.key?.ref;
    const key = createdRef === undefined ? "key" : `key ${createdRef}`;
    const name = JSON.stringify(creation.name);
    const object = `the ${creation.environment} ${key} for ${creation.organization} (${name})`;
    return { subject: user, verb: "create", object };
  }
  if (rotate !== undefined) {
    const { key, as = "another one", overlap } = rotate;
    const after = ` The new key is ${performed.replacement?.ref ?? as}; ${oldKeyInWords(overlap)}.`;
    return { subject: user, verb: "rotate", object: `the key ${key}`, after };
  }
  if (revoke !== undefined) {
    return { subject: user, verb: "revoke", object: `the key ${revoke.key}` };
  }
  if (expire !== undefined) {
    const object = `the end of the key ${expire.key}: ${expire.expires}`;
    return { subject: user, verb: "set", object };
  }
  if (organization !== undefined) {
    const { ref, ...changes } = organization;
    const what = Object.entries(changes).map(([name, value]) => changeInWords(name, value));
    // This action has no `actor`.
    return { subject: "An administrator", verb: "set", object: `${what.join(" and ")} for ${ref}` };
  }

  // The only action that is left: assumptions.
  const changes = Object.entries(assumptions ?? {}).map(([name, value]) => `${name} ${value}`);
  const what = changes.join(", ") || "none";
  return { subject: "The service", verb: "change", object: `its responses: ${what}` };
}

/** `the live access to not approved` */
function changeInWords(name: string, value: unknown): string {
  let words = accessInWords(String(value));
  if (value === true) words = "on";
  if (value === false) words = "off";
  return `the ${accessInWords(name)} to ${words}`;
}

/** How long a replaced key still works. */
function oldKeyInWords(overlap: Overlap | undefined): string {
  if (overlap === undefined) return `the old one works for ${defaultOverlap / minute} more minutes`;
  // An overlap of 0, also with a unit: `0m`.
  if (overlap === 0 || /^0+[a-z]$/.test(overlap)) return "the old one stops working immediately";
  // `30 more minutes`
  const [count, unit] = durationInWords(overlap).split(" ");
  return `the old one works for ${count} more ${unit}`;
}

/** `61 minutes`, of `61m`; `1 minute`, of `1m` and `01m`. */
function durationInWords(duration: string): string {
  const [, count, unit = ""] = /^0*(\d+)([a-z]+)$/.exec(duration) ?? [];
  const word = unitWords[unit];
  if (word === undefined) return duration;
  return count === "1" ? `1 ${word}` : `${count} ${word}s`;
}

// Created on first use, because it takes as long as half a start.
let dateFormat: Intl.DateTimeFormat | undefined;

/** `10:01 on 2 March 2026`; with seconds unless they are 0. */
export function timeInWords(iso: string): string {
  const at = new Date(iso).toISOString();
  const seconds = at.slice(17, 19) === "00" ? "" : at.slice(16, 19);
  dateFormat ??= new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
  return `${at.slice(11, 16)}${seconds} on ${dateFormat.format(new Date(iso))}`;
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

/** What a summary tells of a request: as its step writes it, or as it was sent. */
interface SummarizedRequest {
  /** Empty if the step writes none. */
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  readonly times: number;
}

function summarizeRequest({ method, path, key, times }: SummarizedRequest): string {
  let summary = `${method} ${path}`.trim() || "request";
  if (key === "none") summary += " without a key";
  else if (key === "malformed") summary += " with a malformed key";
  else if (key === "unknown") summary += " with an unknown key";
  else if (key !== undefined) summary += ` with ${key}`;
  if (times !== 1) summary += `, ${times} times`;
  return summary;
}

/** Summarizes an action, with the key that it created if it was performed: `rotate active, overlap 30m → active-2`. */
export function summarizeAction(action: StepAction, performed: ActionResult | null = null): string {
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
  const summary = `${name} ${words.join(", ")}`;

  // The new key of `create_key` is the key of the action; that of `rotate` replaces the key of the action.
  const { key, replacement } = performed === null ? keyRefsOf(action) : keyRefsOf(action, performed);
  const newRef = name === "create_key" ? key : replacement;
  return newRef === null ? summary : `${summary} → ${newRef}`;
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
