import { faultKinds } from "../../rules/fault-effects.js";
import {
  type ActionResult,
  keyRefsOf,
  type SentRequest,
  type StepAction,
  type StoryStep,
} from "../../sandbox/steps.js";
import { type ActionName, actionName, actionRow } from "../../scenario/actions.js";

/** Summarizes a step, whether or not it has sent its request: `request with retiring`, `advance 30m`. */
export function summarizeStep(step: StoryStep, sent: SentRequest | null = null): string {
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
  if (key !== undefined) summary += ` ${summarizeKey(key)}`;
  if (times !== 1) summary += `, ${times} times`;
  return summary;
}

function summarizeKey(ref: string): string {
  if (ref === "none") return "without a key";
  if (ref === "malformed") return "with a malformed key";
  if (ref === "unknown") return "with an unknown key";
  return `with ${ref}`;
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
export function effectList(faults: NonNullable<StepAction["faults"]>): string {
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
