import { faultKinds } from "../../rules/fault-effects.js";
import { defaultOverlap } from "../../rules/key-state.js";
import { minute, type Overlap } from "../../rules/time.js";
import {
  type ActionResult,
  keyRefsOf,
  type SentRequest,
  type StepAction,
  type StoryStep,
} from "../../sandbox/step-results.js";
import { actionName, actionRow } from "../../scenario/actions.js";
import { accessInWords } from "../access-words.js";

/** The words of an action in a sentence. */
interface Sentence {
  /** Default: an administrator, or the member in the step. */
  readonly actor?: string;
  readonly verb: string;
  readonly object: string;
  /** What follows, if it was not rejected. */
  readonly after?: string;
}

const unitWords: Record<string, string> = {
  ms: "millisecond",
  s: "second",
  m: "minute",
  h: "hour",
  d: "day",
};

/** How a request is summarized whose key is not one of the sandbox. */
const reservedKeyWords: Readonly<Record<string, string>> = {
  none: "without a key",
  malformed: "with a malformed key",
  unknown: "with an unknown key",
};

/** `30 minutes pass: it is 09:30 on 2 March 2026.` */
export function clockSentence(duration: string, now: string): string {
  const time = durationInWords(duration);
  const verb = time.startsWith("1 ") ? "passes" : "pass";
  return `${time} ${verb}: it is ${timeInWords(now)}.`;
}

/** Narrates an action: who did what, and its result or error. */
export function actionSentences(action: StepAction, performed: ActionResult): string {
  const name = actionName(action) ?? "faults";
  // Faults are never rejected.
  if (name === "faults") {
    const effects = effectList(action.faults ?? []);
    if (effects === "") return "The network works again: no more faults.";
    return `Requests can now hit faults: ${effects}.`;
  }

  const { error } = performed;
  const { actor: role } = action[name] as { readonly actor?: string }; // only the actions on keys have one
  const administrator = role === "member" ? "A member of the organization" : "An administrator";
  const { actor = administrator, verb, object, after = "" } = actionSentence(action, performed);
  if (error !== null) return `${actor} tries to ${verb} ${object}. It is rejected: ${error.code}.`;
  return `${actor} ${verb}s ${object}.${after}`;
}

/** The words of an action other than faults. */
function actionSentence(action: StepAction, performed: ActionResult): Sentence {
  const { create_key: creation, rotate, revoke, expire, organization, assumptions } = action;
  if (creation !== undefined) {
    const createdRef = creation.ref ?? performed.key?.ref;
    const named = createdRef === undefined ? "key" : `key ${createdRef}`;
    const name = JSON.stringify(creation.name);
    const object = `the ${creation.environment} ${named} for ${creation.organization} (${name})`;
    return { verb: "create", object };
  }
  if (rotate !== undefined) {
    const { key, as = "another one", overlap } = rotate;
    const after = ` The new key is ${performed.replacement?.ref ?? as}; ${oldKeyInWords(overlap)}.`;
    return { verb: "rotate", object: `the key ${key}`, after };
  }
  if (revoke !== undefined) {
    return { verb: "revoke", object: `the key ${revoke.key}` };
  }
  if (expire !== undefined) {
    return { verb: "set", object: `the end of the key ${expire.key}: ${expire.expires}` };
  }
  if (organization !== undefined) {
    const { ref, ...changes } = organization;
    const what = Object.entries(changes).map(([name, value]) => changeInWords(name, value));
    return { verb: "set", object: `${what.join(" and ")} for ${ref}` };
  }
  const changes = Object.entries(assumptions ?? {}).map(([name, value]) => `${name} ${value}`);
  const what = changes.join(", ") || "none";
  return { actor: "The service", verb: "change", object: `its responses: ${what}` };
}

/** How long a replaced key still works. */
function oldKeyInWords(overlap: Overlap = `${defaultOverlap / minute}m`): string {
  // An overlap of 0, also with a unit: `0m`.
  if (overlap === 0 || /^0+[a-z]$/.test(overlap)) return "the old one stops working immediately";
  // `30 more minutes`
  const [count, unit] = durationInWords(overlap).split(" ");
  return `the old one works for ${count} more ${unit}`;
}

/** `the live access to not approved` */
function changeInWords(name: string, value: unknown): string {
  const words = { true: "on", false: "off" }[String(value)] ?? accessInWords(String(value));
  return `the ${accessInWords(name)} to ${words}`;
}

/** `61 minutes`, of `61m`. */
function durationInWords(duration: string): string {
  const [, count, unit = ""] = /^\+?(\d+)([a-z]+)$/.exec(duration) ?? [];
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

/** Lists the effects of faults: `latency and status 503, reset`. What belongs to a status, such as its body, is no effect. */
function effectList(faults: NonNullable<StepAction["faults"]>): string {
  const effects: string[] = [];
  for (const { then } of faults) {
    const names: string[] = [];
    for (const [name, value] of Object.entries(then)) {
      if (!isFaultKind(name) || value === false) continue;
      names.push(name === "status" ? `status ${value}` : name);
    }
    effects.push(names.join(" and "));
  }
  return effects.join(", ");
}

function isFaultKind(name: string): boolean {
  return (faultKinds as readonly string[]).includes(name);
}

/** Summarizes a step, whether or not it has sent its request: `request with retiring`, `advance 30m`. */
export function stepIntent(step: StoryStep, sent: SentRequest | null = null): string {
  const { request, advance } = step;
  if (advance !== undefined) return `advance ${advance}`;
  if (request === undefined) return actionIntent(step);
  const { method = "", path = "", key, repeat: times = 1 } = request;
  return requestIntent(sent ?? { method, path, key, times });
}

type IntendedRequest = Record<"method" | "path", string> & { times: number; key: string | undefined };

function requestIntent({ method, path, key, times }: IntendedRequest): string {
  let intent = `${method} ${path}`.trim() || "request";
  if (key !== undefined) intent += ` ${reservedKeyWords[key] ?? `with ${key}`}`;
  if (times !== 1) intent += `, ${times} times`;
  return intent;
}

/** Summarizes an action, with the key that it created if it was performed: `rotate active, overlap 30m → active-2`. */
export function actionIntent(action: StepAction, performed: ActionResult | null = null): string {
  const name = actionName(action) ?? "faults";
  if (name === "faults") return `faults: ${effectList(action.faults ?? []) || "none"}`;

  const { newKey: newKeyField } = actionRow(name);
  const words: string[] = [];
  for (const [field, value] of Object.entries(action[name] ?? {})) {
    // The ref of the new key comes last.
    if (field === newKeyField) continue;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    words.push(field === "key" || field === "ref" ? text : `${field} ${text}`);
  }
  const intent = `${name} ${words.join(", ")}`;

  const { key, replacement } = keyRefsOf(action, performed ?? {});
  const newRef = name === "create_key" ? key : replacement;
  return newRef === null ? intent : `${intent} → ${newRef}`;
}
