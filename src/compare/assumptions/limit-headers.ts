import { day } from "../../rules/time.js";
import { shownText } from "../response/describe.js";
import { headerOf } from "../response/headers.js";
import type { RedactedResponse } from "../response/redacted-response.js";

// The limit headers of one response, in one of the two forms that the sandbox has, too: `legacy` is `X-RateLimit-Limit`,
// `-Remaining` and `-Reset`, `draft` is `RateLimit` and `RateLimit-Policy`. Their numbers must be what the form says: a limit
// of the key, the requests that remain, and seconds until the limit resets.

/** What the limit headers of a response show. */
export type LimitHeaders =
  | { readonly kind: "none" }
  | {
      readonly kind: "counted";
      readonly form: "legacy" | "draft";
      readonly counts: readonly LimitCount[];
    }
  /** In words. */
  | { readonly kind: "another_form"; readonly words: string };

/** What is left of a limit. */
export interface LimitCount {
  /** Tells the limits of a key apart. */
  readonly limit: string;
  readonly remaining: number;
  /** Seconds. */
  readonly reset: number;
}

/** A limit of a key, as its 200s show it. */
export interface KeyLimit {
  /** The number of requests, with the digits of the body. */
  readonly quota: string;
  /** In seconds. */
  readonly window: number;
}

/** An item of `RateLimit` or `RateLimit-Policy`, with the parameters that the sandbox sends. */
interface DraftItem {
  readonly name: string;
  /** Of a policy, the quota, and the window in seconds. */
  readonly q: string | undefined;
  readonly w: string | undefined;
  /** Of a limit, the requests that remain, and the seconds until it resets. */
  readonly r: string | undefined;
  readonly t: string | undefined;
}

/** In the order of the alphabet, like `draftNames`. */
const legacyNames = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
const draftNames = ["ratelimit", "ratelimit-policy"];

const upToFifteenDigits = /^\d{1,15}$/;

/** Reads the limit headers of a response; `limits` are those of its key, as far as they are known. */
export function readHeadersOfResponse(response: RedactedResponse, limits: readonly KeyLimit[]): LimitHeaders {
  const names: string[] = [];
  for (const [name] of response.headers) if (/rate-?limit/i.test(name)) names.push(name);
  if (names.length === 0) return { kind: "none" };

  const sortedNames = names.map((name) => name.toLowerCase()).sort();
  const values = sortedNames.map((name) => headerOf(response, name) ?? "");
  const anotherForm: LimitHeaders = {
    kind: "another_form",
    words: `another form of ${shownText(names.join(", "))}`,
  };
  if (sortedNames.join() === legacyNames.join()) return readLegacy(values, limits) ?? anotherForm;
  if (sortedNames.join() === draftNames.join()) return readDraft(values, limits) ?? anotherForm;
  return anotherForm;
}

/** Reads the values of the legacy headers; `undefined` if they are not in the sandbox's form. */
function readLegacy(values: readonly string[], limits: readonly KeyLimit[]): LimitHeaders | undefined {
  if (!values.every(isWholeNumber)) return undefined;
  const [quota = ""] = values;
  const [total = 0, remaining = 0, reset = 0] = values.map(Number);
  if (remaining > total) return undefined;

  const limitOfKey = findLimit(limits, quota, reset);
  if (limitOfKey === undefined) return undefined;
  const limit = `${quota} in ${limitOfKey.window} s`;
  return { kind: "counted", form: "legacy", counts: [{ limit, remaining, reset }] };
}

/** Finds the limit of the key with a quota. A reset above its window is a time, or in other units. */
function findLimit(limits: readonly KeyLimit[], quota: string, reset: number): KeyLimit | undefined {
  // Without a 200 of the key, its limits are not known, and any quota may be one.
  const anyLimit: KeyLimit = { quota, window: day / 1000 };
  const candidates = limits.length === 0 ? [anyLimit] : limits;
  return candidates.find((limit) => limit.quota === quota && reset <= limit.window);
}

/**
 * Reads the values of `RateLimit`, such as `"minute";r=12;t=30`, and of `RateLimit-Policy`, such as `"minute";q=60;w=60`;
 * `undefined` if they are not in the sandbox's form: earlier drafts have other parameters.
 */
function readDraft(values: readonly string[], limits: readonly KeyLimit[]): LimitHeaders | undefined {
  const [items = [], policies = []] = values.map(readItems);
  const windowByName = new Map<string, number>();
  for (const { name, q, w } of policies) {
    if (!isWholeNumber(q) || !isWholeNumber(w)) return undefined;
    const isOfKey = limits.length === 0 || limits.some(({ quota }) => quota === q);
    if (!isOfKey) return undefined;
    // Of two policies with one name, the first counts.
    if (!windowByName.has(name)) windowByName.set(name, Number(w));
  }

  // An item without a policy of its name may be of any window.
  const longestWindow = Math.max(...policies.map(({ w }) => Number(w)));
  const counts: LimitCount[] = [];
  for (const { name, r, t } of items) {
    if (!isWholeNumber(r) || !isWholeNumber(t)) return undefined;
    const window = windowByName.get(name) ?? longestWindow;
    if (Number(t) > window) return undefined;
    counts.push({ limit: name, remaining: Number(r), reset: Number(t) });
  }
  return { kind: "counted", form: "draft", counts };
}

function isWholeNumber(value: string | undefined): boolean {
  return value !== undefined && upToFifteenDigits.test(value);
}

/** Reads a list of items, such as `"minute";r=12;t=30, "day";r=900;t=3600`: a comma before a name separates them. */
function readItems(list: string): DraftItem[] {
  return list.split(/, *(?=["a-z])/i).map(readItem);
}

/** Reads one item: of `"minute";r=12;t=30`, the name is `"minute"`, `r` is `12`, and `t` is `30`. */
function readItem(text: string): DraftItem {
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
