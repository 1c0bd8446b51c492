import { actionIn } from "../../rules/actions.js";
import { defaultOverlap } from "../../rules/api-key.js";
import { accessInWords } from "../../rules/organization.js";
import { minute, type Overlap } from "../../rules/time.js";
import {
  keyRefsOf,
  type Performed,
  type SentRequest,
  type StepAction,
  type StoryStep,
} from "../../sandbox/step-results.js";

/** `30 minutes pass: it is 09:30 on 2 March 2026.` */
export function clockSentence(duration: string, now: string): string {
  const time = durationInWords(duration);
  const verb = time.startsWith("1 ") ? "passes" : "pass";
  return `${time} ${verb}: it is ${timeInWords(now)}.`;
}

/** Narrates an action: who did what, and its result or error. */
export function actionSentences(action: StepAction, performed: Performed): string {
  const name = actionIn(action) ?? "faults";
  // Faults are never rejected.
  if (name === "faults") {
    const effects = effectsOf(action.faults ?? []);
    if (effects === "") return "The network works again: no more faults.";
    return `Requests can now hit faults: ${effects}.`;
  }

  const { error } = performed;
  const { actor: role } = action[name] as { readonly actor?: string };
  const administrator = role === "member" ? "A member of the organization" : "An administrator";
  const { actor = administrator, verb, object, after = "" } = sentenceOf(action, performed);
  if (error !== null) return `${actor} tries to ${verb} ${object}. It is rejected: ${error.code}.`;
  return `${actor} ${verb}s ${object}.${after}`;
}

interface Sentence {
  /** Default: an administrator, or the member in the step. */
  readonly actor?: string;
  readonly verb: string;
  readonly object: string;
  readonly after?: string;
}

/** The words of an action other than faults, which are never rejected. */
function sentenceOf(action: StepAction, performed: Performed): Sentence {
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
    const after = ` The new key is ${performed.replacement?.ref ?? as}; ${oldKey(overlap)}.`;
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

function oldKey(overlap: Overlap = `${defaultOverlap / minute}m`): string {
  if (overlap === 0 || /^0+[a-z]$/.test(overlap)) return "the old one stops working immediately";
  return `the old one works for ${durationInWords(overlap).replace(/^(\d+)/, "$1 more")}`;
}

function changeInWords(name: string, value: unknown): string {
  const words = { true: "on", false: "off" }[String(value)] ?? accessInWords(String(value));
  return `the ${accessInWords(name)} to ${words}`;
}

const unitWords: Record<string, string> = {
  ms: "millisecond",
  s: "second",
  m: "minute",
  h: "hour",
  d: "day",
};

// `61m` is "61 minutes".
function durationInWords(duration: string): string {
  const [, count, unit = ""] = /^\+?(\d+)([a-z]+)$/.exec(duration) ?? [];
  const word = unitWords[unit];
  if (word === undefined) return duration;
  return count === "1" ? `1 ${word}` : `${count} ${word}s`;
}

// Created on first use, because it takes as long as half a start.
let date: Intl.DateTimeFormat | undefined;

/** `10:01 on 2 March 2026`; with seconds unless they are 0. */
export function timeInWords(iso: string): string {
  const at = new Date(iso).toISOString();
  const seconds = at.slice(17, 19) === "00" ? "" : at.slice(16, 19);
  date ??= new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
  return `${at.slice(11, 16)}${seconds} on ${date.format(new Date(iso))}`;
}

/** Lists the effects of faults: `latency, status 503`. */
function effectsOf(faults: NonNullable<StepAction["faults"]>): string {
  const effects: string[] = [];
  for (const { then } of faults) {
    const names: string[] = [];
    for (const [name, value] of Object.entries(then)) {
      if (name === "body" || value === false) continue;
      names.push(name === "status" ? `status ${value}` : name);
    }
    effects.push(names.join(" and "));
  }
  return effects.join(", ");
}

/** Summarizes a step, whether or not it has sent its request: `request with retiring`, `advance 30m`. */
export function stepIntent(step: StoryStep, sent: SentRequest | null = null): string {
  const { request, advance } = step;
  if (advance !== undefined) return `advance ${advance}`;
  if (request === undefined) return actionIntent(step);
  const { method = "", path = "", key, repeat: times = 1 } = request;
  return requestIntent(sent ?? { method, path, key, times });
}

type Intended = Record<"method" | "path", string> & { times: number; key: string | undefined };

function requestIntent({ method, path, key, times }: Intended): string {
  let intent = `${method} ${path}`.trim() || "request";
  if (key !== undefined) intent += ` ${withKey[key] ?? `with ${key}`}`;
  if (times !== 1) intent += `, ${times} times`;
  return intent;
}

const withKey: Readonly<Record<string, string>> = {
  none: "without a key",
  malformed: "with a malformed key",
  unknown: "with an unknown key",
};

/** Summarizes an action, with the key that it created if it was performed: `rotate active, overlap 30m → active-2`. */
export function actionIntent(action: StepAction, performed: Performed | null = null): string {
  const name = actionIn(action) ?? "faults";
  if (name === "faults") return `faults: ${effectsOf(action.faults ?? []) || "none"}`;
  const { key, replacement } = keyRefsOf(action, performed ?? {});
  const newRef = name === "create_key" ? key : replacement;

  const words: string[] = [];
  for (const [field, value] of Object.entries(action[name] ?? {})) {
    // The ref of the new key comes last.
    if (value === newRef) continue;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    words.push(field === "key" || field === "ref" ? text : `${field} ${text}`);
  }

  const intent = `${name} ${words.join(", ")}`;
  return newRef === null ? intent : `${intent} → ${newRef}`;
}
