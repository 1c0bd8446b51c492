import { defaultOverlap } from "../../rules/key-state.js";
import { minute, type Overlap } from "../../rules/time.js";
import type { Actor } from "../../sandbox/operations/change.js";
import type { ActionResult, StepAction } from "../../sandbox/steps.js";
import { accessInWords } from "../access-words.js";
import { effectList } from "./summarize.js";

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

/** `30 minutes pass: it is 09:30 on 2 March 2026.` */
export function narrateAdvance(duration: string, now: string): string {
  const time = durationInWords(duration);
  const verb = time.startsWith("1 ") ? "passes" : "pass";
  return `${time} ${verb}: it is ${timeInWords(now)}.`;
}

/** Narrates an action: who did what, and its result or error. */
export function narrateAction(action: StepAction, performed: ActionResult): string {
  // Faults are never rejected.
  if (action.faults !== undefined) return narrateFaults(action.faults);

  const { subject, verb, object, after = "" } = wordsOfAction(action, performed);
  const { error } = performed;
  if (error !== null) return `${subject} tries to ${verb} ${object}. It is rejected: ${error.code}.`;
  return `${subject} ${verb}s ${object}.${after}`;
}

function narrateFaults(faults: NonNullable<StepAction["faults"]>): string {
  const effects = effectList(faults);
  if (effects === "") return "The network works again: no more faults.";
  return `Requests can now hit faults: ${effects}.`;
}

/** The words of an action other than faults. */
function wordsOfAction(action: StepAction, performed: ActionResult): ActionWords {
  const { create_key: creation, rotate, revoke, expire, organization, assumptions } = action;
  if (creation !== undefined) {
    const createdRef = creation.ref ?? performed.key?.ref;
    const key = createdRef === undefined ? "key" : `key ${createdRef}`;
    const name = JSON.stringify(creation.name);
    const object = `the ${creation.environment} ${key} for ${creation.organization} (${name})`;
    return { subject: userInWords(creation.actor), verb: "create", object };
  }
  if (rotate !== undefined) {
    const { key, as = "another one", overlap, actor } = rotate;
    const after = ` The new key is ${performed.replacement?.ref ?? as}; ${oldKeyInWords(overlap)}.`;
    return { subject: userInWords(actor), verb: "rotate", object: `the key ${key}`, after };
  }
  if (revoke !== undefined) {
    return { subject: userInWords(revoke.actor), verb: "revoke", object: `the key ${revoke.key}` };
  }
  if (expire !== undefined) {
    const object = `the end of the key ${expire.key}: ${expire.expires}`;
    return { subject: userInWords(expire.actor), verb: "set", object };
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

function userInWords(actor: Actor | undefined): string {
  return actor === "member" ? "A member of the organization" : "An administrator";
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

/** `the live access to not approved` */
function changeInWords(name: string, value: unknown): string {
  let words = accessInWords(String(value));
  if (value === true) words = "on";
  if (value === false) words = "off";
  return `the ${accessInWords(name)} to ${words}`;
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
