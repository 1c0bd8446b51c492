/** What requests come on one after the other, such as a connection, as far as it tells what their client has heard. */
export interface Line {
  /** When it was opened, on the stopwatch. */
  readonly openedAt: number;
  /** Whether a request came on it before the one that is being looked at. */
  isUsed: boolean;
  /** How many milliseconds after an answer has gone out a request may still have been under way with it. */
  readonly grace: number;
}

/** An answer from which a client learns something. Changed in place. */
export interface Heard {
  /** When it had gone out, on the stopwatch; `Infinity` before. */
  at: number;
}

/** The line of calls in this process: each knows the answers that were handed out before it began. */
export const callLine: Line = Object.freeze({ openedAt: Number.POSITIVE_INFINITY, isUsed: false, grace: 0 });

/**
 * A line of which nothing is known but that a request comes on it: behind a server or a worker of somebody else's.
 *
 * Its grace is longer than a client with several connections takes to send or to read, and shorter than it waits before
 * it tries again.
 */
export function unknownLine(): Line {
  return { openedAt: Number.NEGATIVE_INFINITY, isUsed: true, grace: 100 };
}

/** Something of which nobody has heard yet. */
export function unheard(): Heard {
  return { at: Number.POSITIVE_INFINITY };
}

/** Whether nobody has heard of it yet. */
export function isNews({ at }: Heard): boolean {
  return at === Number.POSITIVE_INFINITY;
}

/** Says that an answer had gone out at an instant. */
export function tell(heard: Heard, at: number): void {
  heard.at = Math.min(heard.at, at);
}

/**
 * Whether the client of a request had heard of it when it sent the request.
 *
 * The first request on a line was under way when the line was opened. Without a line one request comes after the other.
 */
export function isHeard(
  heard: Heard | undefined,
  { started, line }: { readonly started: number; readonly line: Line | undefined },
): boolean {
  if (heard === undefined) return false;
  if (line === undefined) return heard.at <= started;
  return line.isUsed ? heard.at <= started - line.grace : heard.at < line.openedAt;
}
