import { minute } from "../../rules/time.js";
import { headerOf, readDate, readHttpDate, retryAfterForm } from "../response/headers.js";
import type { RedactedResponse } from "../response/redacted-response.js";
import {
  type Attempt,
  controlWithoutKey,
  describeAttempt,
  describeLimited,
  replaceEvidence,
} from "./attempt.js";
import type { Session } from "./session.js";
import { sendControl } from "./watch-outages.js";

// A 429 that was not asked for ends a comparison, but the first one can be waited for if its limit is over in a minute. A
// request without a key tells who limits:
//
// | without a key | limiter | then |
// |---|---|---|
// | 429 | a gateway, by the address | wait as long as the gateway says, and go on more slowly |
// | 401 after `minute_used_before` | the key, whose minute is used up | wait for its next minute |
// | any other | unknown | the end |

/** The least time between two requests after a gateway's 429, in milliseconds. */
const leastPace = 1000;

/** `waited`: the wait is over, also if a signal has ended it. `ended`: the limit cannot be waited for, and ends the comparison. */
type WaitResult = { readonly kind: "waited" | "ended" };

/** Waits for a limit that was not asked for, or ends the comparison. */
export async function waitForLimit(session: Session, limited: Attempt): Promise<WaitResult> {
  const end = readEndOfLimit(limited);
  if (!session.pacing.canWaitForLimit || end.kind === "not_soon") return giveUp(session, limited);

  // A request without a key, and then the limited one again.
  if (session.mayStillSend(2).kind === "refused") {
    const got = `${describeLimited(limited)}, and --max-requests has no room to wait for the next minute`;
    return giveUp(session, limited, got);
  }
  const control = await sendControl(session, controlWithoutKey);
  if (control.kind === "not_sent") return giveUp(session, limited);

  const status = control.attempt.response?.status;
  if (status === 429) return waitForGateway(session, limited, control.attempt);
  const isMinuteOfKey = limited.evidence.kind === "minute_used_before" && status === 401;
  return isMinuteOfKey ? waitForMinute(session, limited, end.milliseconds) : giveUp(session, limited);
}

function giveUp(session: Session, limited: Attempt, got = describeLimited(limited)): WaitResult {
  session.endByResponse(limited, "limit", got);
  return { kind: "ended" };
}

/** Waits for the next minute of a key. */
async function waitForMinute(session: Session, limited: Attempt, milliseconds: number): Promise<WaitResult> {
  const why = `an earlier comparison may have used up the minute of ${limited.variable}`;
  const seconds = Math.ceil(milliseconds / 1000);
  session.options.announce?.(
    `${limited.outcome} got ${describeAttempt(limited)}: ${why}. Waits ${seconds} s, and sends the request again.`,
  );
  replaceEvidence(limited, { kind: "waited_for", why });
  await session.pacing.waitForLimit(milliseconds);
  return { kind: "waited" };
}

/** Waits for a gateway. The comparison then goes on with a pace that the gateway allows. */
async function waitForGateway(session: Session, limited: Attempt, control: Attempt): Promise<WaitResult> {
  const end = readEndOfLimit(control);
  if (end.kind === "not_soon") return giveUp(session, control);

  const { options, pacing } = session;
  const { milliseconds } = end;
  pacing.slowDown(Math.max(allowedPace(session, limited, milliseconds), leastPace));
  const why = "a gateway limits this address";
  const found = `${limited.outcome} got ${describeAttempt(limited)}, and so did a request without a key: ${why}`;
  options.announce?.(
    `${found}. Waits ${Math.ceil(milliseconds / 1000)} s, and goes on with one request in ${pacing.pace / 1000} s.`,
  );
  for (const attempt of [limited, control]) replaceEvidence(attempt, { kind: "waited_for", why });
  await pacing.waitForLimit(milliseconds);
  // A signal can have ended the wait, and with it the comparison.
  if (session.progress.kind === "running") {
    session.notes.push(`${found}. The comparison waited, and went on more slowly.`);
  }
  return { kind: "waited" };
}

/**
 * The time between two requests that a gateway allows, in milliseconds: it has let some requests through from the first
 * request until its limit is over. After 10 requests in 5 s and a wait of 55 s, that is 6 s.
 */
function allowedPace(session: Session, limited: Attempt, wait: number): number {
  const letThrough = session.attempts.filter(({ response }) => response?.status !== 429);
  const requestsLetThrough = Math.max(letThrough.length, 1);
  const firstSentAt = session.attempts[0]?.sentAt ?? limited.sentAt;
  const timeUntilEnd = limited.sentAt - firstSentAt + wait;
  return Math.ceil(timeUntilEnd / requestsLetThrough);
}

/** When the limit of a 429 is over: `soon` is in a minute at most, and `not_soon` is later, or the response does not tell. */
type EndOfLimit = { readonly kind: "soon"; readonly milliseconds: number } | { readonly kind: "not_soon" };

function readEndOfLimit({ response, evidence }: Attempt): EndOfLimit {
  const retryAfter = response && headerOf(response, "retry-after");
  if (response === undefined || retryAfter === undefined) {
    // The response does not tell, but the minute of a key ends in a minute at most.
    return evidence.kind === "minute_used_before"
      ? { kind: "soon", milliseconds: minute }
      : { kind: "not_soon" };
  }

  const wait = readRetryAfterWait(retryAfter, response);
  if (wait === undefined || wait > minute) return { kind: "not_soon" };
  return { kind: "soon", milliseconds: Math.max(wait, 0) };
}

/** Returns the wait of a `Retry-After` in milliseconds; `undefined` if it is invalid, or a date in a response without a `Date`. */
function readRetryAfterWait(retryAfter: string, response: RedactedResponse): number | undefined {
  switch (retryAfterForm(retryAfter)) {
    case "seconds":
      return 1000 * Number(retryAfter);
    case "date":
    case "old_date": {
      const wait = readHttpDate(retryAfter) - readDate(response);
      return Number.isNaN(wait) ? undefined : wait;
    }
    case "invalid":
      return undefined;
  }
}
