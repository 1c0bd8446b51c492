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
  /** The number of requests. */
  readonly quota: number;
  /** In seconds. */
  readonly window: number;
}

/** An item of `RateLimit` or `RateLimit-Policy`, with the parameters that the sandbox sends. */
interface DraftItem {
  readonly name: string;
  /** The quota of a policy. */
  readonly q: string | undefined;
  /** The window of a policy, in seconds. */
  readonly w: string | undefined;
  /** The requests of a limit that remain. */
  readonly r: string | undefined;
  /** The seconds until a limit resets. */
  readonly t: string | undefined;
}

const legacyNames = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
const draftNames = ["ratelimit", "ratelimit-policy"];

const upToFifteenDigits = /^\d{1,15}$/;

/** Reads the limit headers of a response; `limits` are those of its key, none if they are not known. */
export function readHeadersOfResponse(response: RedactedResponse, limits: readonly KeyLimit[]): LimitHeaders {
  // A header that comes twice is one list.
  const nameByLowerCase = new Map<string, string>();
  for (const [name] of response.headers) {
    const lowerCase = name.toLowerCase();
    const isNew = !nameByLowerCase.has(lowerCase);
    if (isNew && /rate-?limit/.test(lowerCase)) nameByLowerCase.set(lowerCase, name);
  }
  if (nameByLowerCase.size === 0) return { kind: "none" };

  const names = [...nameByLowerCase.values()];
  const anotherForm: LimitHeaders = {
    kind: "another_form",
    words: `another form of ${shownText(names.join(", "))}`,
  };
  const sortedNames = [...nameByLowerCase.keys()].sort().join();
  if (sortedNames === legacyNames.join()) return readLegacy(response, limits) ?? anotherForm;
  if (sortedNames === draftNames.join()) return readDraft(response, limits) ?? anotherForm;
  return anotherForm;
}

/** Reads the legacy headers; `undefined` if they are not in the sandbox's form. */
function readLegacy(response: RedactedResponse, limits: readonly KeyLimit[]): LimitHeaders | undefined {
  const quota = headerOf(response, "x-ratelimit-limit");
  const remaining = headerOf(response, "x-ratelimit-remaining");
  const reset = headerOf(response, "x-ratelimit-reset");
  if (![quota, remaining, reset].every(isWholeNumber)) return undefined;
  if (Number(remaining) > Number(quota)) return undefined;

  const limitOfKey = findLimit(limits, Number(quota), Number(reset));
  if (limitOfKey === undefined) return undefined;
  const limit = `${quota} in ${limitOfKey.window} s`;
  const count: LimitCount = { limit, remaining: Number(remaining), reset: Number(reset) };
  return { kind: "counted", form: "legacy", counts: [count] };
}

/** Finds the limit of the key with a quota. A reset above its window is a time, or in other units. */
function findLimit(limits: readonly KeyLimit[], quota: number, reset: number): KeyLimit | undefined {
  // If the limits of the key are not known, any quota may be the one of a day.
  const anyLimit: KeyLimit = { quota, window: day / 1000 };
  const candidates = limits.length === 0 ? [anyLimit] : limits;
  return candidates.find((limit) => limit.quota === quota && reset <= limit.window);
}

/**
 * Reads `RateLimit`, such as `"minute";r=12;t=30`, and `RateLimit-Policy`, such as `"minute";q=60;w=60`; `undefined` if they
 * are not in the sandbox's form: earlier drafts have other parameters.
 */
function readDraft(response: RedactedResponse, limits: readonly KeyLimit[]): LimitHeaders | undefined {
  const items = readItems(headerOf(response, "ratelimit") ?? "");
  const policies = readItems(headerOf(response, "ratelimit-policy") ?? "");
  const windowByName = new Map<string, number>();
  for (const { name, q, w } of policies) {
    if (!isWholeNumber(q) || !isWholeNumber(w)) return undefined;
    const isOfKey = limits.length === 0 || limits.some(({ quota }) => quota === Number(q));
    if (!isOfKey) return undefined;
    // Of two policies with one name, the first counts.
    if (!windowByName.has(name)) windowByName.set(name, Number(w));
  }

  // A limit without a policy of its name can have any of the windows.
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
