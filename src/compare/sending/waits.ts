import { minute } from "../../rules/time.js";
import { headerOf, readDate, readHttpDate, retryAfterForm } from "../response/headers.js";
import type { RedactedResponse } from "../response/redacted-response.js";
import { type Attempt, controlWithoutKey, describeAttempt } from "./attempt.js";
import type { Session } from "./session.js";
import { sendControl } from "./watch-outages.js";
import { withdrawEvidence } from "./withdraw-evidence.js";

// A 429 that was not asked for ends a comparison, but the first one can be waited for. A request without a key tells who limits:
//
// | 429 | without a key | limiter | wait |
// |---|---|---|---|
// | the first one of a key without a 200 | 401 | the key: an earlier comparison has used up its minute | until the next minute |
// | any | 429 | a gateway limits the address | what the gateway says; then go on more slowly |
// | any other | any other | unknown | none: the end |

/** The least time between two requests after a gateway's 429, in milliseconds. */
const leastPace = 1000;

/** `waited`: the wait is over, also if a signal has ended it. `ended`: the limit cannot be waited for, and ends the comparison. */
type WaitResult = { readonly kind: "waited" | "ended" };

/** Waits for a limit that was not asked for, or ends the comparison. */
export async function waitForLimit(session: Session, limited: Attempt): Promise<WaitResult> {
  const end = readEndOfLimit(limited);
  if (session.hasWaited || end.kind === "too_late") return giveUp(session, limited);

  // A request without a key, and then the limited one again.
  if (session.mayStillSend(2).kind === "refused") {
    return giveUp(session, limited, ", and --max-requests has no room to wait for the next minute");
  }
  const control = await sendControl(session, controlWithoutKey);
  if (control.kind === "not_sent") return giveUp(session, limited);

  switch (findLimiter(limited, control.attempt)) {
    case "key":
      return waitForMinute(session, limited, end.milliseconds);
    case "gateway":
      return waitForGateway(session, limited, control.attempt);
    case "unknown":
      return giveUp(session, limited);
  }
}

function findLimiter(limited: Attempt, control: Attempt): "key" | "gateway" | "unknown" {
  const status = control.response?.status;
  if (status === 429) return "gateway";
  const isMinuteOfKey = limited.evidence.kind === "earlier_limit";
  return status === 401 && isMinuteOfKey ? "key" : "unknown";
}

function giveUp(session: Session, limited: Attempt, detail = ""): WaitResult {
  session.endByLimit(limited, detail);
  return { kind: "ended" };
}

/** Waits for the next minute of a key. */
async function waitForMinute(session: Session, limited: Attempt, milliseconds: number): Promise<WaitResult> {
  const { options } = session;
  if (options.wait === undefined) return giveUp(session, limited);

  const seconds = Math.ceil(milliseconds / 1000);
  options.announce?.(
    `${limited.outcome} got ${describeAttempt(limited)}: an earlier comparison may have used up the minute of ${limited.variable}. Waits ${seconds} s, and sends the request again.`,
  );
  await session.waitForLimit(milliseconds);
  return { kind: "waited" };
}

/** Waits for a gateway. The comparison then goes on with a pace that the gateway allows. */
async function waitForGateway(session: Session, limited: Attempt, control: Attempt): Promise<WaitResult> {
  const { options } = session;
  const end = readEndOfLimit(control);
  if (options.wait === undefined || end.kind === "too_late") return giveUp(session, control);

  const { milliseconds } = end;
  session.slowDown(Math.max(allowedPace(session, limited, milliseconds), leastPace));
  const got = `${limited.outcome} got ${describeAttempt(limited)}, and so did a request without a key`;
  options.announce?.(
    `${got}: a gateway limits this address. Waits ${Math.ceil(milliseconds / 1000)} s, and goes on with one request in ${session.pace / 1000} s.`,
  );
  for (const attempt of [limited, control]) withdrawEvidence(attempt, { kind: "address_limited" });
  await session.waitForLimit(milliseconds);
  // A signal can have ended the wait, and with it the comparison.
  if (session.progress.kind === "running") {
    session.notes.push(
      `${got}: a gateway limits this address. The comparison waited, and went on more slowly.`,
    );
  }
  return { kind: "waited" };
}

/**
 * The time between two requests that a gateway allows, in milliseconds: it has let some requests through from the first
 * request until its limit is over. After 10 requests in 5 s and a wait of 55 s, that is 6 s.
 */
function allowedPace(session: Session, limited: Attempt, wait: number): number {
  const letThrough = session.attempts.filter(({ response }) => response?.status !== 429);
  const sinceFirst = limited.sentAt - (session.attempts[0]?.sentAt ?? limited.sentAt);
  return Math.ceil((sinceFirst + wait) / Math.max(letThrough.length, 1));
}

/** When the limit of a 429 is over: `soon` is in a minute at most, and `too_late` is later, or nobody can tell. */
type EndOfLimit = { readonly kind: "soon"; readonly milliseconds: number } | { readonly kind: "too_late" };

function readEndOfLimit({ response, evidence }: Attempt): EndOfLimit {
  const retryAfter = response && headerOf(response, "retry-after");
  if (response === undefined || retryAfter === undefined) {
    // The response does not tell, but the minute of a key ends in a minute at most.
    return evidence.kind === "earlier_limit" ? { kind: "soon", milliseconds: minute } : { kind: "too_late" };
  }

  const wait = readRetryAfterWait(retryAfter, response);
  // A wait that is not a number is not `<= minute`, either.
  const isSoon = wait <= minute;
  return isSoon ? { kind: "soon", milliseconds: Math.max(wait, 0) } : { kind: "too_late" };
}

/** Returns the wait of a `Retry-After` in milliseconds; `NaN` for an invalid one, or a date in a response without a `Date`. */
function readRetryAfterWait(retryAfter: string, response: RedactedResponse): number {
  switch (retryAfterForm(retryAfter)) {
    case "seconds":
      return 1000 * Number(retryAfter);
    case "date":
    case "old_date":
      return readHttpDate(retryAfter) - readDate(response);
    case "invalid":
      return Number.NaN;
  }
}
