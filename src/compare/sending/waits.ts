import { minute } from "../../rules/time.js";
import { headerOf, readDate, readHttpDate, retryAfterForm } from "../response/headers.js";
import type { RedactedResponse } from "../response/redacted-response.js";
import { type Attempt, describeAttempt, withoutKey } from "./attempt.js";
import type { Session } from "./session.js";
import { sendControl } from "./watch-outages.js";
import { withdrawEvidence } from "./withdraw-evidence.js";

// A 429 that was not asked for ends a comparison, but the first one can be waited for: an earlier comparison has used up
// the minute of a key, or a gateway limits the address. A request without a key tells the two apart. After a wait for a
// gateway, the comparison goes on with a pace that the gateway allows.

/** The least time between two requests after a gateway's 429, in milliseconds. */
const leastPace = 1000;

/** `waited`: the request can be sent again. `ended`: the comparison has ended, because the limit cannot be waited for. */
type WaitResult = { readonly kind: "waited" | "ended" };

/** Waits for a limit that was not asked for, or ends the comparison. */
export async function waitForLimit(session: Session, limited: Attempt): Promise<WaitResult> {
  let end = readEndOfLimit(limited.response);
  // The response may not tell, but the minute of a key ends in a minute at most.
  const isMinuteOfKey = limited.evidence.kind === "limited_before";
  if (end.kind === "not_told" && isMinuteOfKey) end = { kind: "soon", milliseconds: minute };
  if (session.hasWaited || end.kind !== "soon") return endByLimit(session, limited);

  // A request without a key, and then the limited one again.
  const room = session.roomFor(2);
  if (room.kind === "no_room") {
    const detail = ", and --max-requests has no room to wait for the next minute";
    return endByLimit(session, limited, detail);
  }

  const control = await sendControl(session, withoutKey);
  if (control.kind === "not_sent") return endByLimit(session, limited);
  const { status } = control.attempt.response ?? {};
  if (status === 429) return waitForGateway(session, limited, control.attempt);
  // Without a key, the request was not limited: the limit is that of the key.
  if (status === 401 && isMinuteOfKey) return waitForMinute(session, limited, end.milliseconds);
  return endByLimit(session, limited);
}

function endByLimit(session: Session, limited: Attempt, detail = ""): WaitResult {
  session.endByLimit(limited, detail);
  return { kind: "ended" };
}

/** An earlier comparison may have used up the minute of the key. */
async function waitForMinute(session: Session, limited: Attempt, milliseconds: number): Promise<WaitResult> {
  const { options } = session;
  if (options.wait === undefined) return endByLimit(session, limited);

  const seconds = Math.ceil(milliseconds / 1000);
  options.announce?.(
    `${limited.outcome} got ${describeAttempt(limited)}: an earlier comparison may have used up the minute of ${limited.variable}. Waits ${seconds} s, and sends the request again.`,
  );
  await session.waitForLimit(milliseconds);
  return { kind: "waited" };
}

/** A gateway limits the address: it sends a 429 with and without a key. */
async function waitForGateway(session: Session, limited: Attempt, control: Attempt): Promise<WaitResult> {
  const { options } = session;
  const end = readEndOfLimit(control.response);
  if (options.wait === undefined || end.kind !== "soon") return endByLimit(session, control);

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

/**
 * When the limit of a 429 is over, by its `Retry-After`:
 * - `soon`: in a minute at most
 * - `too_late`: later, or nobody can tell
 * - `not_told`: it has no `Retry-After`
 */
type EndOfLimit =
  | { readonly kind: "soon"; readonly milliseconds: number }
  | { readonly kind: "too_late" | "not_told" };

function readEndOfLimit(response: RedactedResponse | undefined): EndOfLimit {
  const retryAfter = response && headerOf(response, "retry-after");
  if (response === undefined || retryAfter === undefined) return { kind: "not_told" };

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
