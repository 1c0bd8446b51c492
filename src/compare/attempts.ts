import { outcomeRow } from "../rules/outcomes.js";
import { isMapping } from "../schema/type-tag.js";
import type { PromisedOutcomeId } from "./findings.js";
import { isLimit, type PlannedRequest } from "./keys.js";
import {
  describeResponse,
  headerOf,
  memberIn,
  quoted,
  type RedactedResponse,
  readDayUse,
  shownText,
} from "./response.js";

// What came of a request, and whether it shows anything of its outcome.

/** Whether an attempt is judged by what its outcome promises. If not, only a 200 is judged, as that of any key. */
type Standing = { readonly kind: "judged" } | { readonly kind: "unjudged"; readonly why: string };

/** A request that was sent, and what came of it. */
export interface Attempt extends PlannedRequest {
  /** The key that was sent, that of the variable or one that the session has made. Never printed. */
  readonly apiKey?: string | undefined;
  /** On the comparison's own clock, in milliseconds: the server's clocks may differ. */
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly response?: RedactedResponse;
  /** Why there is no response: an attempt has either this or a response. */
  readonly failure?: string;
  /** Only `leaveUnjudged` changes it, once. */
  standing: Standing;
}

export type CompletedAttempt = Attempt & { readonly response: RedactedResponse };

/** Returns what a response shows by itself. A later one can show that it was not the service's. */
export function firstStanding(outcome: PromisedOutcomeId, response: RedactedResponse | undefined): Standing {
  if (response?.status === 429 && !isLimit(outcome)) {
    return { kind: "unjudged", why: "it got a 429 that was not asked for" };
  }
  if (response?.status !== 200) return { kind: "judged" };

  // The key may be another one than its variable says. Responses do not show the required scope, so there may be none.
  if (outcome === "403.insufficient_scope") {
    return { kind: "unjudged", why: "the endpoint needs no scope, or this key has it" };
  }
  const use = readDayUse(response);
  // A key above its limit should have got 429.
  const isAboveLimit = outcome === "429.per_day" && use !== undefined && use.today > use.perDay;
  if (!isLimit(outcome) || isAboveLimit) return { kind: "judged" };
  return { kind: "unjudged", why: "the key was not at its limit" };
}

/** Says that a response shows nothing of its outcome. The first reason stays. */
export function leaveUnjudged(attempt: Attempt, why: string): void {
  if (attempt.standing.kind === "judged") attempt.standing = { kind: "unjudged", why };
}

export function isJudged({ standing }: Attempt): boolean {
  return standing.kind === "judged";
}

/** Whether an attempt got a 200 with a mapping, whichever key it had: an outage, a lock or a gateway does not send it. */
export function got200(attempt: Attempt): attempt is CompletedAttempt {
  return attempt.response?.status === 200 && isMapping(attempt.response.json);
}

/** The 200s of the keys that should get one. */
export function rightful200s(attempts: readonly Attempt[]): CompletedAttempt[] {
  return attempts.filter(got200).filter(({ outcome }) => outcomeRow(outcome).status === 200);
}

/** Tells the requests of a comparison apart: that of an outcome, and an unknown key with the other prefix. */
export function requestName({ outcome, otherPrefix }: PlannedRequest): string {
  return otherPrefix ? `${outcome} after the other prefix` : outcome;
}

/** Returns the attempts of each request, in the order of their first ones. */
export function groupByRequest<One extends Attempt>(attempts: readonly One[]): [One, ...One[]][] {
  const groups = new Map<string, [One, ...One[]]>();
  for (const attempt of attempts) {
    const name = requestName(attempt);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [attempt]);
    else group.push(attempt);
  }
  return [...groups.values()];
}

/** Describes what came by its status and code: `401 unauthorized`. */
export function describeAttempt({ response, failure }: Attempt): string {
  return response === undefined ? `no response: ${failure}` : describeResponse(response);
}

/** The same with what a lock says of itself, and the request id, by which an owner of the service finds it. */
export function describeInFull(attempt: Attempt): string {
  const { response } = attempt;
  if (response === undefined) return describeAttempt(attempt);
  const words = [describeAttempt(attempt)];
  const message = memberIn(response, ["error", "message"]);
  if (typeof message === "string" && message !== "") words.push(quoted(message));
  const retryAfter = headerOf(response, "retry-after");
  if (retryAfter !== undefined) words.push(`(Retry-After: ${shownText(retryAfter)})`);
  const id = headerOf(response, "x-request-id");
  return id ? `${words.join(" ")}, request ${shownText(id)}` : words.join(" ");
}
