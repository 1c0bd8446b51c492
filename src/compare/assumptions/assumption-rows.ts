import type { Assumptions } from "../../rules/assumptions.js";
import { redact } from "../../rules/keys/redact.js";
import { day, minute } from "../../rules/time.js";
import { assumptionsSchema } from "../../scenario/format/step-shapes.js";
import { findMismatches } from "../../schema/check.js";
import { isMapping } from "../../schema/type-tag.js";
import { describeInvalidWait, describeValue, quoted } from "../response/describe.js";
import { headerOf, readChallenge, readDate, retryAfterForm } from "../response/headers.js";
import { memberIn } from "../response/members.js";
import { shownText } from "../response/response.js";
import type { CompletedAttempt } from "../sending/attempt.js";
import type { LimitHeaders } from "./limit-headers.js";

/** What a response shows of an assumption. Without a value, it is something that the assumption cannot have. */
export interface ShownAssumption {
  readonly value?: string | boolean;
  readonly words: string;
}

/** An attempt to read, and what the responses together tell of its own. */
export interface ReadContext {
  readonly attempt: CompletedAttempt;
  /** The challenge of the response without the words that vary. */
  readonly challenge: string;
  readonly limitHeaders: LimitHeaders;
}

/** How responses show an assumption. */
export interface AssumptionRow {
  /** The responses that can show it. The last of these is named to a reader who has seen none. */
  readonly statuses: readonly number[];
  /** Returns `undefined` if the response does not show it. */
  readonly read: (context: ReadContext) => ShownAssumption | undefined;
  /** The statuses that must all have shown this value before it is learned. Default: none, so any response is enough. */
  readonly learnedOnlyWith?: (value: ShownAssumption["value"]) => readonly number[];
}

/** The assumptions that show in single responses. */
export const assumptionRows: Readonly<Partial<Record<keyof Assumptions, AssumptionRow>>> = {
  // Often a gateway sends the 429, and the service behind it everything else.
  request_id_on_errors: {
    statuses: [401, 403, 429],
    read: readRequestId,
    learnedOnlyWith: () => [401, 429],
  },
  www_authenticate: { statuses: [401], read: readApiKeyChallenge },
  error_details: { statuses: [403, 429], read: readDetails, learnedOnlyWith: () => [429] },
  rate_limit_code: { statuses: [429], read: readCode },
  retry_after: { statuses: [429], read: readRetryAfter },
  rate_limit_headers: {
    statuses: [200, 429],
    read: readLimitForm,
    // Many services send them only with a 429.
    learnedOnlyWith: (value) => (value === "none" ? [429] : []),
  },
};

type IsOfForm = (value: unknown) => boolean;
const isName: IsOfForm = (value) => typeof value === "string" && value !== "";

/**
 * The members of `error.details` that the sandbox sends with a 403, by its code, and their forms. A service may send any other
 * value as code.
 */
const membersByCode: ReadonlyMap<unknown, Readonly<Record<string, IsOfForm>>> = new Map([
  ["access_denied", { organization_status: isName }],
  ["live_access_not_approved", { live_access: isName }],
  ["insufficient_scope", { required_scope: isName }],
]);
/** The members of `error.details` that the sandbox sends with a 429. */
const limitMembers: Readonly<Record<string, IsOfForm>> = {
  limit: (value) => value === "per_minute" || value === "per_day",
  retry_after_seconds: (value) =>
    Number.isInteger(value) && Number(value) >= 0 && Number(value) <= day / 1000,
};

function valueShown(value: string | boolean): ShownAssumption {
  return { value, words: shownText(String(value)) };
}

function anotherForm(words: string): ShownAssumption {
  return { words };
}

function readRequestId({ attempt }: ReadContext): ShownAssumption {
  return valueShown(Boolean(headerOf(attempt.response, "x-request-id")));
}

/** `true` is one challenge `ApiKey`, and not `Basic`, at which a browser asks for a password. */
function readApiKeyChallenge({ attempt, challenge }: ReadContext): ShownAssumption {
  const parts = readChallenge(attempt.response);
  switch (parts.kind) {
    case "none":
      return valueShown(false);
    case "one":
      if (parts.scheme.toLowerCase() === "apikey") return valueShown(true);
      return anotherForm(quoted(challenge));
    case "another_text":
      return anotherForm(quoted(challenge));
  }
}

function readDetails({ attempt }: ReadContext): ShownAssumption | undefined {
  const { response } = attempt;
  const error = memberIn(response, ["error"]);
  if (!isMapping(error)) return undefined;
  if (!Object.hasOwn(error, "details")) return valueShown(false);
  const { code, details } = error;
  if (!isMapping(details)) return anotherForm(describeValue(details));

  const members = response.status === 429 ? limitMembers : membersByCode.get(code);
  const names = Object.keys(details);
  if (members === undefined || names.sort().join() !== Object.keys(members).sort().join()) {
    return anotherForm(`details with ${names.length === 0 ? "no members" : shownText(names.join(", "))}`);
  }
  for (const [name, isOfForm] of Object.entries(members)) {
    if (!isOfForm(details[name]) || isOfOtherLimit(name, details[name], attempt)) {
      return anotherForm(`details with another form of ${name}`);
    }
  }
  return valueShown(true);
}

/** Whether the wait of a 429 cannot be seconds: it is more than the window of its limit. */
function isOfOtherLimit(name: string, value: unknown, { outcome }: CompletedAttempt): boolean {
  return name === "retry_after_seconds" && outcome === "429.per_minute" && Number(value) > minute / 1000;
}

function readCode({ attempt }: ReadContext): ShownAssumption {
  const code = memberIn(attempt.response, ["error", "code"]);
  if (typeof code !== "string") return anotherForm("no error.code");
  const mismatches = findMismatches(assumptionsSchema, { rate_limit_code: code }, redact);
  if (mismatches.length > 0) return anotherForm(quoted(code));
  return valueShown(code);
}

function readRetryAfter({ attempt }: ReadContext): ShownAssumption {
  const { response, outcome } = attempt;
  const value = headerOf(response, "retry-after");
  if (value === undefined) return valueShown("none");
  const form = retryAfterForm(value);
  if (form === "old_date") return anotherForm("a date in a form that is not sent any more");
  if (form === "invalid") return anotherForm(describeInvalidWait(value));

  // A wait above the window of its limit is a time, or in other units.
  const window = (outcome === "429.per_minute" ? minute : day) / 1000;
  if (form === "seconds") {
    return Number(value) > window ? anotherForm(`a number, more than ${window} s`) : valueShown(form);
  }
  // A date is whole seconds, and so is the time of the response: the wait can seem 2 s longer than it is.
  const wait = (Date.parse(value) - readDate(response)) / 1000;
  return wait > window + 2 ? anotherForm(`a date, more than ${window} s`) : valueShown(form);
}

function readLimitForm({ limitHeaders }: ReadContext): ShownAssumption {
  switch (limitHeaders.kind) {
    case "none":
      return valueShown("none");
    case "counted":
      return valueShown(limitHeaders.form);
    case "another_form":
      return anotherForm(limitHeaders.words);
  }
}

/** After and before each space, comma and quotation mark, and after `=`: `nonce="a1"` has `nonce=`, `"`, `a1` and `"`. */
const betweenWords = /(?<=[\s=,"])|(?=[\s,"])/;

/**
 * Returns the challenge of each response, empty without one. Words that two responses to one cause do not share, such as a
 * nonce, are `…`: so the report shows a challenge once, and not with each nonce.
 */
export function stableChallenges(
  attempts: readonly CompletedAttempt[],
): ReadonlyMap<CompletedAttempt, string> {
  // A word that varies for one cause is `…` for all: if a nonce is only drawn anew for unknown keys, the challenges of all
  // causes can still be equal.
  const varying = new Set<string>();
  const firstByOutcome = new Map<string, readonly string[]>();
  for (const attempt of attempts) {
    const words = wordsOfChallenge(attempt);
    const first = firstByOutcome.get(attempt.outcome) ?? words;
    firstByOutcome.set(attempt.outcome, first);
    // A text of another length than the first one is another challenge.
    if (words.length !== first.length) continue;
    for (const [index, word] of words.entries()) {
      if (word !== first[index]) varying.add(`${index} of ${words.length}`);
    }
  }

  const challenges = new Map<CompletedAttempt, string>();
  for (const attempt of attempts) {
    const words = wordsOfChallenge(attempt);
    const stable = words.map((word, index) => (varying.has(`${index} of ${words.length}`) ? "…" : word));
    challenges.set(attempt, stable.join(""));
  }
  return challenges;
}

function wordsOfChallenge({ response }: CompletedAttempt): readonly string[] {
  return (headerOf(response, "www-authenticate") ?? "").split(betweenWords);
}
