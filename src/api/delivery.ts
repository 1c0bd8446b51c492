/** How a door hands over an answer that a fault has got hold of; plain data, which each door carries out its own way. */
export interface Delivery {
  /** Milliseconds of real time before anything happens. */
  readonly delayMs: number;
  /** The answer is sent; or the connection is reset; or nothing comes until the client gives up. */
  readonly kind: "send" | "reset" | "hang";
  /** After how many bytes of the body the connection is closed; `undefined` when it is sent whole. */
  readonly cutAfter: number | undefined;
  /** How fast the body is sent; `undefined` for at once. */
  readonly bytesPerSecond: number | undefined;
}

/** How much of a body is sent at a time, and how long after what came before it. */
export interface Pace {
  readonly bytes: number;
  readonly everyMs: number;
}

const shortestPause = 50;

/** The steps in which to send so many bytes per second. */
export function paceOf(bytesPerSecond: number): Pace {
  const everyMs = Math.max(shortestPause, 1000 / bytesPerSecond);
  return { everyMs, bytes: Math.max(1, Math.round((bytesPerSecond * everyMs) / 1000)) };
}

/** The parts of a body in the order in which to send them, and the pause before each; the last may be cut off. */
export function partsOf(
  body: string,
  { cutAfter, bytesPerSecond }: Pick<Delivery, "cutAfter" | "bytesPerSecond">,
): { readonly parts: readonly Uint8Array[]; readonly pauseMs: number } {
  const whole = new TextEncoder().encode(body);
  const sent = cutAfter === undefined ? whole : whole.subarray(0, cutAfter);
  if (bytesPerSecond === undefined) return { parts: sent.length === 0 ? [] : [sent], pauseMs: 0 };
  const { bytes, everyMs } = paceOf(bytesPerSecond);
  const parts: Uint8Array[] = [];
  for (let start = 0; start < sent.length; start += bytes) parts.push(sent.subarray(start, start + bytes));
  return { parts, pauseMs: everyMs };
}
