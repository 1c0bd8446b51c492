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
  /** Tells the limits of a key apart: `60 in 60 s`, or the name of an item. */
  readonly limitName: string;
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

/** An item of `RateLimit` or `RateLimit-Policy`, with its parameters that are whole numbers. */
interface DraftItem {
  readonly name: string;
  /** `q`: the requests of a policy. */
  readonly quota: number | undefined;
  /** `w`: the seconds of a policy. */
  readonly window: number | undefined;
  /** `r`: the requests of a limit that remain. */
  readonly remaining: number | undefined;
  /** `t`: the seconds until a limit resets. */
  readonly reset: number | undefined;
}

const legacyNames = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
const draftNames = ["ratelimit", "ratelimit-policy"];

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
  const quota = readWholeNumber(headerOf(response, "x-ratelimit-limit"));
  const remaining = readWholeNumber(headerOf(response, "x-ratelimit-remaining"));
  const reset = readWholeNumber(headerOf(response, "x-ratelimit-reset"));
  if (quota === undefined || remaining === undefined || reset === undefined) return undefined;
  if (remaining > quota) return undefined;

  const window = findWindow(limits, quota, reset);
  if (window === undefined) return undefined;
  const count: LimitCount = { limitName: `${quota} in ${window} s`, remaining, reset };
  return { kind: "counted", form: "legacy", counts: [count] };
}

/** Finds the window of the limit with a quota, in seconds. A reset above it is a time, or in other units. */
function findWindow(limits: readonly KeyLimit[], quota: number, reset: number): number | undefined {
  if (limits.length > 0) {
    return limits.find((limit) => limit.quota === quota && reset <= limit.window)?.window;
  }
  // The limits of the key are not known: any quota may be the one of a day.
  const secondsOfDay = day / 1000;
  return reset <= secondsOfDay ? secondsOfDay : undefined;
}

/**
 * Reads `RateLimit`, such as `"minute";r=12;t=30`, and `RateLimit-Policy`, such as `"minute";q=60;w=60`; `undefined` if they
 * are not in the sandbox's form: earlier drafts have other parameters.
 */
function readDraft(response: RedactedResponse, limits: readonly KeyLimit[]): LimitHeaders | undefined {
  const windowByName = readPolicies(response, limits);
  if (windowByName === undefined) return undefined;

  const longestWindow = Math.max(...windowByName.values());
  const counts: LimitCount[] = [];
  for (const { name, remaining, reset } of readItems(headerOf(response, "ratelimit"))) {
    if (remaining === undefined || reset === undefined) return undefined;
    // A limit without a policy of its name can have any of the windows.
    const window = windowByName.get(name) ?? longestWindow;
    if (reset > window) return undefined;
    counts.push({ limitName: name, remaining, reset });
  }
  return { kind: "counted", form: "draft", counts };
}

/** Reads the windows of the policies by their names, in seconds; `undefined` if one is no limit of the key. */
function readPolicies(
  response: RedactedResponse,
  limits: readonly KeyLimit[],
): ReadonlyMap<string, number> | undefined {
  const windowByName = new Map<string, number>();
  for (const { name, quota, window } of readItems(headerOf(response, "ratelimit-policy"))) {
    if (quota === undefined || window === undefined) return undefined;
    const isOfKey = limits.some((limit) => limit.quota === quota && limit.window === window);
    if (limits.length > 0 && !isOfKey) return undefined;
    // Of two policies with one name, the first counts.
    if (!windowByName.has(name)) windowByName.set(name, window);
  }
  return windowByName;
}

/** Reads up to fifteen digits, which a number has exactly; `undefined` for anything else. */
function readWholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Reads a list of items, such as `"minute";r=12;t=30, "day";r=900;t=3600`: a comma before a name separates them. */
function readItems(list = ""): DraftItem[] {
  return list.split(/, *(?=["a-z])/i).map(readItem);
}

/** Reads one item: of `"minute";r=12;t=30`, the name is `"minute"`, 12 requests remain, and the reset is in 30 s. */
function readItem(text: string): DraftItem {
  const [name = ""] = text.split(";");
  const parameter = (letter: string) => {
    const value = new RegExp(`; *${letter}=([^;,\\s]*)`).exec(text)?.[1];
    return readWholeNumber(value);
  };
  return {
    name: name.trim(),
    quota: parameter("q"),
    window: parameter("w"),
    remaining: parameter("r"),
    reset: parameter("t"),
  };
}
