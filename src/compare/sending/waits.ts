import { minute } from "../../rules/time.js";
import { headerOf, readDate, retryAfterForm } from "../response/headers.js";
import type { RedactedResponse } from "../response/redacted-response.js";
import {
  type Attempt,
  type AttemptRequest,
  describeAttempt,
  type Room,
  type SendResult,
  withoutKey,
} from "./attempt.js";

// A 429 that was not asked for ends a comparison, but the first one can be waited for: an earlier comparison has used up
// the minute of a key, or a gateway limits the address. A request without a key tells the two apart. After a wait for a
// gateway, the comparison goes on with a pace that the gateway allows.

/** What a session does to wait. */
interface LimitedSession {
  readonly options: {
    readonly announce?: (sentence: string) => void;
    readonly wait?: (milliseconds: number) => Promise<void>;
  };
  readonly attempts: readonly Attempt[];
  readonly notes: string[];
  readonly hasWaited: boolean;
  pace: number;
  roomFor(requests: number): Room;
  control(wanted: AttemptRequest): Promise<SendResult>;
  repeat(attempt: Attempt): Promise<SendResult>;
  wait(milliseconds: number): Promise<void>;
  endByLimit(limited: Attempt, detail?: string): void;
}

/** The least time between two requests after a gateway's 429, in milliseconds. */
const leastPace = 1000;

/** Waits for a limit that was not asked for, and sends the request again; or ends the comparison. Resolves to the latest attempt. */
export async function waitForLimit(session: LimitedSession, limited: Attempt): Promise<Attempt> {
  const wait = readTimeOfLimit(limited.response);
  // Without Retry-After, only the minute of a key is known to end.
  const isTooLong =
    wait.kind === "later" || (wait.kind === "a_minute" && limited.evidence.kind !== "used_up");
  if (session.hasWaited || isTooLong) {
    session.endByLimit(limited);
    return limited;
  }

  // A request without a key, and then the limited one again.
  const room = session.roomFor(2);
  if (room.kind === "no_room") {
    session.endByLimit(limited, ", and --max-requests has no room to wait for the next minute");
    return limited;
  }

  const control = await session.control(withoutKey);
  if (control.kind === "not_sent") {
    session.endByLimit(limited);
    return limited;
  }
  const { status } = control.attempt.response ?? {};
  if (status === 429) return waitForGateway(session, limited, control.attempt);
  if (status === 401 && limited.evidence.kind === "used_up") {
    return waitForMinute(session, limited, wait.milliseconds);
  }
  session.endByLimit(limited);
  return limited;
}

/** An earlier comparison may have used up the minute of the key. */
async function waitForMinute(
  session: LimitedSession,
  limited: Attempt,
  milliseconds: number,
): Promise<Attempt> {
  const { options } = session;
  if (options.wait === undefined) {
    session.endByLimit(limited);
    return limited;
  }

  const seconds = Math.ceil(milliseconds / 1000);
  options.announce?.(
    `${limited.outcome} got ${describeAttempt(limited)}: an earlier comparison may have used up the minute of ${limited.variable}. Waits ${seconds} s, and sends the request again.`,
  );
  await session.wait(milliseconds);
  return repeatAfterWait(session, limited);
}

/** A gateway limits the address: it sends a 429 with and without a key. */
async function waitForGateway(session: LimitedSession, limited: Attempt, control: Attempt): Promise<Attempt> {
  const wait = readTimeOfLimit(control.response);
  const { options } = session;
  if (options.wait === undefined || wait.kind !== "named") {
    session.endByLimit(control);
    return limited;
  }

  // As many requests in the same time as the gateway has let through until now.
  const passed = session.attempts.filter(({ response }) => response?.status !== 429);
  const sinceFirst = limited.sentAt - (session.attempts[0]?.sentAt ?? limited.sentAt);
  const pace = Math.ceil((sinceFirst + wait.milliseconds) / Math.max(passed.length, 1));
  session.pace = Math.max(pace, leastPace, session.pace);

  const got = `${limited.outcome} got ${describeAttempt(limited)}, and so did a request without a key`;
  options.announce?.(
    `${got}: a gateway limits this address. Waits ${Math.ceil(wait.milliseconds / 1000)} s, and goes on with one request in ${session.pace / 1000} s.`,
  );
  const why = "a gateway limits this address";
  limited.evidence = { kind: "used_up", why };
  control.evidence = { kind: "used_up", why };
  session.notes.push(`${got}: ${why}. The comparison waited, and went on more slowly.`);
  await session.wait(wait.milliseconds);
  return repeatAfterWait(session, limited);
}

async function repeatAfterWait(session: LimitedSession, limited: Attempt): Promise<Attempt> {
  const again = await session.repeat(limited);
  return again.kind === "sent" ? again.attempt : limited;
}

/**
 * When a 429 says that its limit is over:
 * - `named`: by its `Retry-After`, in a minute at most
 * - `a_minute`: it has none; a minute of a key is over then
 * - `later`: in more than a minute, or nobody can tell
 */
type TimeOfLimit =
  | { readonly kind: "named" | "a_minute"; readonly milliseconds: number }
  | { readonly kind: "later" };

function readTimeOfLimit(response: RedactedResponse | undefined): TimeOfLimit {
  const retryAfter = response && headerOf(response, "retry-after");
  if (response === undefined || retryAfter === undefined) return { kind: "a_minute", milliseconds: minute };
  const form = retryAfterForm(retryAfter);
  if (form === "invalid") return { kind: "later" };

  let wait = 1000 * Number(retryAfter);
  if (form !== "seconds") wait = Date.parse(retryAfter) - readDate(response);
  if (wait <= minute) return { kind: "named", milliseconds: Math.max(wait, 0) };
  return { kind: "later" };
}
