import { day } from "../rules/time.js";
import { headerOf, type RedactedResponse } from "./response.js";

/** A limit of a key, as its 200s show it. */
export interface KeyLimit {
  /** The number of requests, with the digits of the body. */
  readonly quota: string;
  /** In seconds. */
  readonly window: number;
}

/** An item of `RateLimit` or `RateLimit-Policy`, with the parameters that the sandbox sends. */
interface LimitItem {
  readonly name: string;
  /** The quota and window in seconds of a policy. */
  readonly q: string | undefined;
  readonly w: string | undefined;
  /** The requests that remain of a limit, and the seconds until it resets. */
  readonly r: string | undefined;
  readonly t: string | undefined;
}

const legacyNames = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
const draftNames = ["ratelimit", "ratelimit-policy"];

const upToFifteenDigits = /^\d{1,15}$/;

/** Returns the names of all headers with a rate limit. */
export function limitHeaderNames({ headers }: RedactedResponse): string[] {
  const names: string[] = [];
  for (const [name] of headers) if (/rate-?limit/i.test(name)) names.push(name);
  return names;
}

/** Returns the form of these headers, as the sandbox has it, or `other`. */
export function limitHeaderForm(
  response: RedactedResponse,
  names: readonly string[],
  limits: readonly KeyLimit[],
): "legacy" | "draft" | "other" {
  const sorted = names.map((name) => name.toLowerCase()).sort();
  const values = sorted.map((name) => headerOf(response, name) ?? "");
  if (sorted.join() === legacyNames.join() && isLegacyForm(values, limits)) return "legacy";
  if (sorted.join() === draftNames.join() && isDraftForm(values, limits)) return "draft";
  return "other";
}

/** A limit of the key, and seconds until its reset: a number above the window is a time, or in other units. */
function isLegacyForm(values: readonly string[], limits: readonly KeyLimit[]): boolean {
  if (!values.every(isWholeNumber)) return false;
  const [quota = "", remaining, reset] = values;
  if (Number(remaining) > Number(quota)) return false;

  // Without a 200 of the key, its limits are not known.
  if (limits.length === 0) return Number(reset) <= day / 1000;
  const own = limits.filter((limit) => limit.quota === quota);
  return own.some(({ window }) => Number(reset) <= window);
}

/** Limits of the key with the parameters of the sandbox: earlier drafts have others. */
function isDraftForm(values: readonly string[], limits: readonly KeyLimit[]): boolean {
  const [items = [], policies = []] = values.map(readItems);
  for (const { q, w } of policies) {
    if (!isWholeNumber(q) || !isWholeNumber(w)) return false;
    const isOwn = limits.length === 0 || limits.some(({ quota }) => quota === q);
    if (!isOwn) return false;
  }

  // An item without a policy of its name may be of any window.
  const longest = Math.max(...policies.map(({ w }) => Number(w)));
  for (const { name, r, t } of items) {
    if (!isWholeNumber(r) || !isWholeNumber(t)) return false;
    const policy = policies.find((other) => other.name === name);
    const window = policy === undefined ? longest : Number(policy.w);
    if (Number(t) > window) return false;
  }
  return true;
}

function isWholeNumber(value: string | undefined): boolean {
  return value !== undefined && upToFifteenDigits.test(value);
}

/** Reads a list of items, such as `"minute";r=12;t=30, "day";r=900;t=3600`. */
function readItems(list: string): LimitItem[] {
  return list.split(/, *(?=["a-z])/i).map(readItem);
}

function readItem(text: string): LimitItem {
  const [name = ""] = text.split(";");
  const parameter = (letter: string) => new RegExp(`; *${letter}=([^;,\\s]*)`).exec(text)?.[1];
  return {
    name: name.trim(),
    q: parameter("q"),
    w: parameter("w"),
    r: parameter("r"),
    t: parameter("t"),
  };
}
